/** @jsxRuntime automatic @jsxImportSource preact */
import { minute, timeSince } from '../format/times.ts'

/** How long ago something was, with the exact time for programs and for those who point at it. */
export const Ago = ({ iso, now }: { iso: string; now: number }) => (
  <time datetime={iso} title={minute(iso)}>
    {timeSince(iso, now)}
  </time>
)
