/** @jsxRuntime automatic @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks'

/** The muted video of a live broadcast. The code that plays it is loaded when it is first shown. */
export function Preview({ user_id, login, label }: { user_id: string; login: string; label: string }) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const element = video.current
    if (element === null) return
    let stop = () => {}
    let isGone = false
    void import('../player/preview.ts').then(({ startPreview }) => {
      if (!isGone) stop = startPreview(element, `/live/${login}.flv`)
    })
    return () => {
      isGone = true
      stop()
    }
  }, [login])
  const poster = `/images/channels/${user_id}-1280x720.png`
  return <video ref={video} muted playsInline poster={poster} aria-label={label} />
}
