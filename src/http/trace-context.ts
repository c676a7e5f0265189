/** The trace that a request belongs to, as W3C Trace Context tells it: version 00, and neither id only zeros. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Undefined without a header, or with one that is not well formed: that is ignored. */
export function traceIdOf(headers: Headers): string | undefined {
  const given = headers.get('traceparent')
  return given === null ? undefined : TRACEPARENT.exec(given.trim())?.[1]
}
