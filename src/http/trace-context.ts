/** The `traceparent` header of W3C Trace Context: version 00, and neither id is all zeros. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace id; undefined if the header is missing or malformed. */
export function readTraceId(headers: Headers): string | undefined {
  const header = headers.get('traceparent')
  return header === null ? undefined : TRACEPARENT.exec(header.trim())?.[1]
}
