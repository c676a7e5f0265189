/** The markers that the studio works on: those of the latest video. Read while the page is rendered, and by its script. */
import { type Client, StrandError } from '../../client/index.ts'

export interface MarkedVideo {
  readonly video_id: string
  /** By position. */
  readonly markers: readonly ShownMarker[]
}

export interface ShownMarker {
  readonly id: string
  readonly description: string
  readonly position_seconds: number
}

const PER_CALL = 100
/** More than a person scrolls through; a file has all of them. */
const MOST = 500

/** Undefined if the channel has no video yet. */
export async function findMarkedVideo({ helix }: Client, user_id: string): Promise<MarkedVideo | undefined> {
  try {
    let video_id = ''
    const markers: ShownMarker[] = []
    for await (const { data } of helix.getStreamMarkers.pages({ user_id, first: PER_CALL })) {
      const [video] = data[0]?.videos ?? []
      video_id = video?.video_id ?? ''
      for (const { id, description, position_seconds } of video?.markers ?? [])
        markers.push({ id, description, position_seconds })
      if (markers.length >= MOST) break
    }
    return { video_id, markers }
  } catch (error) {
    if (error instanceof StrandError && error.status === 404) return undefined
    throw error
  }
}
