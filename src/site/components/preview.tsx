/** @jsxRuntime automatic @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks'
import type { Broadcast } from '../player/broadcast.ts'

interface PreviewProps {
  readonly user_id: string
  readonly broadcast: Broadcast
  readonly label: string
}

/** The muted video of a live broadcast. The code that plays it is loaded when it is first shown. */
export function Preview({ user_id, broadcast, label }: PreviewProps) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const element = video.current
    if (element === null) return
    let stop = () => {}
    let isGone = false
    void import('../player/preview.ts').then(({ startPreview }) => {
      if (!isGone) stop = startPreview(element, user_id, broadcast)
    })
    return () => {
      isGone = true
      stop()
    }
  }, [broadcast.source])
  const poster = `/images/channels/${user_id}-1280x720.png`
  return <video ref={video} muted playsInline poster={poster} aria-label={label} />
}
