import * as audit from '../src/contract/resources/audit.ts'
import * as benefit from '../src/contract/resources/benefit.ts'
import * as category from '../src/contract/resources/category.ts'
import * as channel from '../src/contract/resources/channel.ts'
import * as client from '../src/contract/resources/client.ts'
import * as entitlement from '../src/contract/resources/entitlement.ts'
import * as event from '../src/contract/resources/event.ts'
import * as eventSubscription from '../src/contract/resources/event-subscription.ts'
import * as fault from '../src/contract/resources/fault.ts'
import * as foundChannel from '../src/contract/resources/found-channel.ts'
import * as game from '../src/contract/resources/game.ts'
import * as marker from '../src/contract/resources/marker.ts'
import * as mediaServer from '../src/contract/resources/media-server.ts'
import * as openid from '../src/contract/resources/openid.ts'
import * as operator from '../src/contract/resources/operator.ts'
import * as organization from '../src/contract/resources/organization.ts'
import * as profile from '../src/contract/resources/profile.ts'
import * as recordedRequest from '../src/contract/resources/recorded-request.ts'
import * as stream from '../src/contract/resources/stream.ts'
import * as token from '../src/contract/resources/token.ts'
import * as user from '../src/contract/resources/user.ts'
import * as video from '../src/contract/resources/video.ts'

/** Names that mean something else in the client. */
const RENAMED: Readonly<Record<string, string>> = {
  Client: 'RegisteredClient',
  ClientWithSecret: 'RegisteredClientWithSecret',
}

/** The schemas that the contract exports, with their names there. */
const exported: ReadonlyMap<object, string> = new Map(
  [
    entitlement,
    stream,
    marker,
    profile,
    video,
    category,
    channel,
    foundChannel,
    eventSubscription,
    event,
    token,
    openid,
    user,
    organization,
    game,
    benefit,
    client,
    mediaServer,
    operator,
    audit,
    fault,
    recordedRequest,
  ]
    .flatMap(module => Object.entries(module as Readonly<Record<string, unknown>>))
    .filter((entry): entry is [string, object] => /^[A-Z][a-z]/.test(entry[0]) && isNamed(entry[1]))
    .map(([name, schema]) => [schema, name]),
)

/** The name of the type of a resource: the title of its schema, or the name under which the contract exports it. */
export function nameOf(schema: object): string | undefined {
  const title = 'title' in schema && isNamed(schema) ? String(schema.title) : undefined
  const name = title ?? exported.get(schema)
  return name === undefined ? undefined : (RENAMED[name] ?? name)
}

/** Objects and enumerations; texts with a rule are plain texts to a program. */
function isNamed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('properties' in value || 'enum' in value)
}
