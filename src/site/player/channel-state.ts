import { api } from '../api.ts'

export type ChannelState = 'live' | 'offline' | 'unknown'

/** Whether a channel is live, also while its publisher reconnects. */
export async function channelState(user_id: string): Promise<ChannelState> {
  try {
    const { data } = await api().helix.getStreams(
      { user_id: [user_id] },
      { signal: AbortSignal.timeout(5000) },
    )
    return data.length === 0 ? 'offline' : 'live'
  } catch {
    return 'unknown'
  }
}
