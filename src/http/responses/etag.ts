/** Whether `If-None-Match` has this ETag. Compared weakly: a proxy that compresses makes an ETag weak. */
export function hasSameTag(headers: Headers, etag: string): boolean {
  const given = headers.get('if-none-match')?.split(',') ?? []
  return given.map(each => each.trim()).some(each => each === '*' || each === etag || each === `W/${etag}`)
}
