/** What a page knows of the video of a live stream, and asks for again while there is none (D-259). */

export interface Broadcast {
  /** The HLS playlist: a path of this host, or a URL. */
  readonly source: string
  /** Whether a publisher is connected. Otherwise there is no playlist, until one returns or the stream ends. */
  readonly isOnAir: boolean
  /** The playlist of what was recorded so far, which grows; null if nothing is. */
  readonly recording: string | null
  /** Another origin that the video comes from. The policy of a page names this one only. */
  readonly origin: string | null
  /** Only in a demo: the viewers of the channel are invented, so this one is neither counted nor added, and only earns drops. */
  readonly hasInventedViewers?: true
}

/** The answer of `/site/broadcast`: null if the stream has ended. */
export interface BroadcastAnswer {
  readonly broadcast: Broadcast | null
}

const TIMEOUT_MILLISECONDS = 5000

/** The broadcast of a user as it is now; null after its end, undefined if the server cannot be reached. */
export async function askForBroadcast(user_id: string): Promise<Broadcast | null | undefined> {
  try {
    const response = await fetch(`/site/broadcast?user_id=${encodeURIComponent(user_id)}`, {
      headers: { Accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    })
    return response.ok ? ((await response.json()) as BroadcastAnswer).broadcast : undefined
  } catch {
    return undefined
  }
}
