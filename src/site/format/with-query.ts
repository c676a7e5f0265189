/** What has a value, as in a query string or a form. */
const encoded = (fields: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(fields)
    .flatMap(([name, value]) => (value ? [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`] : []))
    .join('&')

/** A path with a query string of what is given. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const text = encoded(query)
  return text === '' ? path : `${path}?${text}`
}

/** What a script of a page posts like a form. */
export const postedForm = (
  fields: Readonly<Record<string, string | undefined>>,
  accept = '*/*',
): RequestInit => ({
  method: 'POST',
  headers: { Accept: accept, 'Content-Type': 'application/x-www-form-urlencoded' },
  body: encoded(fields),
})
