/** @jsxRuntime automatic @jsxImportSource preact */
import { minute, timeSince, uptime } from '../format/times.ts'

interface AgoProps {
  readonly iso: string
  /** In milliseconds since 1970. */
  readonly now: number
}

/** How long ago something was, in words; the exact time for those who point at it. */
export const Ago = ({ iso, now }: AgoProps) => (
  <time datetime={iso} title={minute(iso)}>
    {timeSince(iso, now)}
  </time>
)

/** How long a stream has been live. */
export const Uptime = ({ started_at, now }: { readonly started_at: string; readonly now: number }) => (
  <time datetime={started_at} title={`Live since ${minute(started_at)}`}>
    {uptime(started_at, now)}
  </time>
)
