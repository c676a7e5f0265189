/**
 * `import 'strand-server/intercept'`, before the libraries to test: calls of this process for api.twitch.tv, id.twitch.tv and
 * eventsub.wss.twitch.tv go to the server that `startStrand` starts or `attachStrand` finds, until it stops.
 */
import { wrapFromNowOn } from './interception.ts'

export { intercept } from './interception.ts'

wrapFromNowOn()
