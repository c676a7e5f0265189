/** A broadcast that another media server offers as HLS. */
import Hls from 'hls.js/light'
import type { LiveEngine, LiveSource } from './live-playback.ts'

const HLS_TYPE = 'application/vnd.apple.mpegurl'

/** The policy of the page allows no worker. Behind by more than three segments it plays a little faster. */
const CONFIG: Partial<Hls['config']> = {
  enableWorker: false,
  maxLiveSyncPlaybackRate: 1.1,
  backBufferLength: 30,
}

export function hlsSource(url: string): LiveSource {
  let lastSegment: string | undefined
  return {
    // A segment arrives as a whole, so there may be nothing for longer than in a continuous stream.
    stalledMilliseconds: 10_000,
    open(video, attempt, lost) {
      if (!Hls.isSupported()) return openNative(video, url, lost)
      const hls = new Hls(CONFIG)
      const played = attempt > 0 ? lastSegment : undefined
      hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
        lastSegment = details.fragments.at(-1)?.url
        // The playlist of a broadcast that stopped may stay: its end is not played again.
        if (lastSegment === played) lost()
        else if (hls.media === null) hls.attachMedia(video)
      })
      hls.on(Hls.Events.ERROR, (_, { fatal }) => {
        if (fatal) lost()
      })
      hls.loadSource(url)
      return hls
    },
  }
}

/** Safari on phones plays HLS itself, and older ones have nothing that a script could feed. */
function openNative(video: HTMLVideoElement, url: string, lost: () => void): LiveEngine | undefined {
  if (video.canPlayType(HLS_TYPE) === '') return undefined
  video.addEventListener('error', lost)
  video.src = url
  return {
    isNative: true,
    destroy() {
      video.removeEventListener('error', lost)
      video.removeAttribute('src')
      video.load()
    },
  }
}
