/** @jsxRuntime automatic @jsxImportSource preact */
/**
 * Times, relative and in words. A tooltip has the exact time: in UTC, and where the page has a script, in
 * the time zone of the browser (`scripts/local-times.ts`).
 */
import { minute, timeSince, timeUntil, uptime } from '../format/times.ts'

interface TimeProps {
  readonly iso: string
  /** In milliseconds since 1970. */
  readonly now: number
}

/** `3 days ago` */
export const Ago = ({ iso, now }: TimeProps) => (
  <time datetime={iso} title={minute(iso)}>
    {timeSince(iso, now)}
  </time>
)

/** `in 3 days` */
export const Until = ({ iso, now }: TimeProps) => (
  <time datetime={iso} title={minute(iso)}>
    {timeUntil(iso, now)}
  </time>
)

/** How long a stream has been live. */
export const Uptime = ({ started_at, now }: { readonly started_at: string; readonly now: number }) => (
  <time datetime={started_at} title={minute(started_at)}>
    {uptime(started_at, now)}
  </time>
)
