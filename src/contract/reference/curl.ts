import { familyOf, type Operation } from '../operation.ts'

/** The example of an operation as a curl command. Tokens are shell variables, so that none ends up in a page or a history. */
export function curlLine(operation: Operation, baseUrl: string, isStrict = false): string {
  const { method, example, bodyFrom } = operation
  const words = ['curl']
  if (method !== 'GET' && !(method === 'POST' && example.body !== undefined)) words.push(`-X ${method}`)
  const isStrictHelix = isStrict && familyOf(operation) === 'helix'
  const token = exampleToken(operation) ?? (isStrictHelix ? '$TOKEN' : undefined)
  if (token !== undefined) words.push(`-H "Authorization: Bearer ${token}"`)
  if (isStrictHelix) words.push('-H "Client-Id: $CLIENT_ID"')
  if (example.body !== undefined) {
    const isForm = bodyFrom === 'anywhere' && familyOf(operation) === 'oauth'
    if (isForm) words.push(...formWords(example.body as Record<string, string>))
    else words.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(example.body))}`)
  }
  words.push(quoted(baseUrl + exampleTarget(operation)))
  return words.join(' \\\n  ').replace(/^curl \\\n {2}/, 'curl ')
}

function exampleToken({ id, access }: Operation): string | undefined {
  if (access.kind === 'operator') return '$OPERATOR_TOKEN'
  return access.kind === 'token' || id === 'ValidateToken' ? '$TOKEN' : undefined
}

function formWords(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields).map(([name, value]) => `-d ${quoted(`${name}=${value}`)}`)
}

/** Path and query with the values of the example; placeholders without a value stay. */
function exampleTarget({ path, example }: Operation): string {
  const filled = path.replace(/\{(\w+)\}/g, (place, name: string) => example.params?.[name] ?? place)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(example.query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  const search = query.toString()
  return search === '' ? filled : `${filled}?${search}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
