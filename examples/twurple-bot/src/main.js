/** `TWURPLE_MOCK_API_PORT` is the library's setting for a server on this machine. */
import { ApiClient } from '@twurple/api'
import { StaticAuthProvider } from '@twurple/auth'
import { EventSubWsListener } from '@twurple/eventsub-ws'
import { largestChannels, startBot } from './bot.js'

const { CLIENT_ID, USER_TOKEN, CHANNEL } = process.env
const api = new ApiClient({ authProvider: new StaticAuthProvider(CLIENT_ID, USER_TOKEN) })
for (const line of await largestChannels(api, 5)) console.log(line)
startBot({
  api,
  listener: new EventSubWsListener({ apiClient: api }),
  channel: CHANNEL,
  log: console.log,
  onReady: () => console.log('ready'),
})
