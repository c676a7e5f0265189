/** Loads video into an element: playlists with hls.js, or by the browser where it has nothing that a script could feed; files by the browser. */
import type HlsLibrary from 'hls.js/light'

export interface Engine {
  destroy(): void
  /** Loads nothing more; the picture stays. */
  stopLoading?(): void
  /** The URL of the last segment of the playlist, as far as it was loaded. */
  readonly lastSegment?: string | undefined
  /** When the picture that is shown was broadcast, in milliseconds since 1970, if that is in the playlist. */
  readonly shownAt?: number | undefined
}

export interface Opening {
  readonly url: string
  /** Where to begin, in seconds; `live`: at the end of a playlist that moves. */
  readonly from: number | 'live'
  /** The element has a source and may be started. */
  readonly ready: () => void
  /** Nothing more will come. */
  readonly lost: () => void
}

const HLS_TYPE = 'application/vnd.apple.mpegurl'

/** The policy of the page allows no worker. */
const CONFIG: Partial<HlsLibrary['config']> = { enableWorker: false, backBufferLength: 60 }

/**
 * A quarter of a second more than the playlist asks for, so that a network or browser that is late for once does not stop the
 * picture. Further behind than that it plays a little faster.
 */
const LIVE_CONFIG: Partial<HlsLibrary['config']> = {
  ...CONFIG,
  lowLatencyMode: true,
  liveSyncDuration: 1.75,
  maxLiveSyncPlaybackRate: 1.1,
  backBufferLength: 30,
}

/**
 * Opens a playlist. `seen`: the last segment that was played of it; a playlist that ends with it has nothing new, as that of
 * a broadcast that stopped may stay. Undefined: this browser cannot play it.
 */
export async function openPlaylist(
  video: HTMLVideoElement,
  { url, from, ready, lost }: Opening,
  seen?: string,
): Promise<Engine | undefined> {
  if (!hasMediaSource()) return openNative(video, { url, from, ready, lost })
  // Without a network, the library does not come either.
  const library = await import('hls.js/light').catch(() => undefined)
  if (library === undefined) {
    lost()
    return { destroy: () => {} }
  }
  const Hls = library.default
  if (!Hls.isSupported()) return openNative(video, { url, from, ready, lost })
  const hls = new Hls(from === 'live' ? LIVE_CONFIG : { ...CONFIG, startPosition: from })
  let lastSegment: string | undefined
  hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
    lastSegment = details.fragments.at(-1)?.url
    if (from === 'live' && lastSegment !== undefined && lastSegment === seen) lost()
    else if (hls.media === null) {
      const start = from === 'live' ? from : skipGaps(details.fragments, from)
      if (start !== from && start !== 'live') hls.startLoad(start)
      hls.attachMedia(video)
    }
  })
  hls.on(Hls.Events.MEDIA_ATTACHED, ready)
  hls.on(Hls.Events.ERROR, (_, { fatal }) => {
    if (fatal) lost()
  })
  hls.loadSource(url)
  return {
    destroy: () => hls.destroy(),
    stopLoading: () => hls.stopLoad(),
    get lastSegment() {
      return lastSegment
    },
    get shownAt() {
      return hls.playingDate?.getTime()
    },
  }
}

/** Where to begin instead, if the position is in a gap: the library would try to load it again and again. */
function skipGaps(
  fragments: readonly { readonly start: number; readonly end: number; readonly gap?: boolean }[],
  from: number,
): number {
  const found = fragments.find(({ end, gap }) => end > from && gap !== true)
  return found === undefined ? from : Math.max(from, found.start)
}

/** Whether a script can feed a video. The library asks for more, but need not be loaded without it. */
const hasMediaSource = () => 'ManagedMediaSource' in globalThis || 'MediaSource' in globalThis

const openNative = (video: HTMLVideoElement, opening: Opening): Engine | undefined =>
  video.canPlayType(HLS_TYPE) === '' ? undefined : openFile(video, opening)

/** Opens a file, or what else the browser plays by itself. */
export function openFile(video: HTMLVideoElement, { url, from, ready, lost }: Opening): Engine {
  video.addEventListener('error', lost)
  video.src = url
  if (from !== 'live' && from > 0) video.currentTime = from
  ready()
  return {
    destroy() {
      video.removeEventListener('error', lost)
      video.removeAttribute('src')
      video.load()
    },
  }
}
