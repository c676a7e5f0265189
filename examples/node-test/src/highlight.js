import { StrandError } from 'strand-server/client'

/** Marks this moment of a broadcast. Returns where it is in the recording, such as `1:02:03`; undefined if the channel is offline. */
export async function highlight(helix, user_id, description) {
  try {
    const { position_seconds } = await helix.createStreamMarker.one({ user_id, description })
    return positionText(position_seconds)
  } catch (error) {
    if (error instanceof StrandError && error.status === 404) return undefined
    throw error
  }
}

function positionText(seconds) {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return [h, ...[m, s].map(part => String(part).padStart(2, '0'))].join(':')
}
