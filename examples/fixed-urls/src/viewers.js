import NodeTwitch from 'node-twitch'

// The package is CommonJS whose default export is a property.
const TwitchApi = NodeTwitch.default

/** The number of viewers of a channel, or undefined if it is offline. */
export async function countViewers({ clientId, clientSecret, login }) {
  const twitch = new TwitchApi({ client_id: clientId, client_secret: clientSecret })
  const { data } = await twitch.getStreams({ channels: [login] })
  return data[0]?.viewer_count
}
