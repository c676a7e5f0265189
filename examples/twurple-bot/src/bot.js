/**
 * Watches a channel: sets a marker when the broadcast starts, and one for each new follower. Returns a function that stops it.
 * `onReady` is called when all events are subscribed to.
 */
export function startBot({ api, listener, channel, log, onReady = () => undefined }) {
  const mark = async description => {
    try {
      const { positionInSeconds } = await api.streams.createStreamMarker(channel, description)
      log(`marked "${description}" at ${positionInSeconds} s`)
    } catch (error) {
      log(`not marked "${description}": ${error.message}`)
    }
  }
  const subscriptions = [
    listener.onStreamOnline(channel, () => mark('start')),
    listener.onChannelFollow(channel, channel, ({ userName }) => mark(`${userName} follows`)),
    listener.onStreamOffline(channel, ({ broadcasterName }) => log(`${broadcasterName} is offline`)),
  ]
  const open = new Set(subscriptions)
  listener.onSubscriptionCreateSuccess(subscription => {
    if (open.delete(subscription) && open.size === 0) onReady()
  })
  listener.onSubscriptionCreateFailure((_, error) => log(`not subscribed: ${error.message}`))
  listener.start()
  return () => listener.stop()
}

/** The largest live channels, as lines. */
export async function largestChannels(api, limit) {
  const { data } = await api.streams.getStreams({ limit })
  return data.map(({ userDisplayName, viewers, title }) => `${userDisplayName} (${viewers}): ${title}`)
}
