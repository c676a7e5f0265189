/** When the packager of a server had each numbered picture of a broadcast, by following its playlist as a player does. */
import type { Pause } from '../browser/lateness.ts'
import { HlsPlayer, type Playlist } from './hls.ts'
import { FRAMES_PER_SECOND, GROUP_SECONDS } from './numbered-video.ts'

const FRAMES_PER_SEGMENT = GROUP_SECONDS * FRAMES_PER_SECOND

export class PartTimes {
  readonly #arrivedAt = new Map<number, number>()
  #hasStopped = false
  #following: Promise<void> = Promise.resolve()

  /** The broadcast must be packaged from its first picture on, as it is if it is recorded. */
  static async follow(url: string, login: string): Promise<PartTimes> {
    const times = new PartTimes()
    const player = await HlsPlayer.open(url, login)
    times.#following = times.#follow(player, await player.playlist())
    return times
  }

  arrivedAt(picture: number): number | undefined {
    return this.#arrivedAt.get(picture)
  }

  /** How long no picture came, each time. */
  pauses(): Pause[] {
    const times = [...this.#arrivedAt.values()]
    return times.map((at, index) => ({ at, milliseconds: at - (times[index - 1] ?? at) }))
  }

  async stop(): Promise<void> {
    this.#hasStopped = true
    await this.#following
  }

  async #follow(player: HlsPlayer, first: Playlist): Promise<void> {
    // Those that are there already came at a time that is not known.
    let seen = lastPicture(first)
    for (let playlist = first; !this.#hasStopped && !playlist.hasEnded; ) {
      playlist = await player.playlist(nextPart(playlist))
      const last = lastPicture(playlist)
      for (const at = Date.now(); seen < last; seen++) this.#arrivedAt.set(seen, at)
    }
  }
}

/** The number of pictures up to the end of a playlist. */
function lastPicture({ segments }: Playlist): number {
  const { sequence = 0, parts = [] } = segments.at(-1) ?? {}
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0)
  return sequence * FRAMES_PER_SEGMENT + Math.round(seconds * FRAMES_PER_SECOND)
}

function nextPart({ segments }: Playlist): string {
  const { sequence = 0, uri, parts = [] } = segments.at(-1) ?? {}
  const [segment, part] = uri === undefined ? [sequence, parts.length] : [sequence + 1, 0]
  return `?_HLS_msn=${segment}&_HLS_part=${part}`
}
