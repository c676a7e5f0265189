import type { Operation } from '../../operation.ts'
import { CONTENT_TYPES, type ExampleBody, type ExampleServer, exampleRequest } from './example-request.ts'
import { formatLiteral, JSON_NOTATION } from './literal.ts'

/** The example of an operation as a curl command. */
export function curlExample(operation: Operation, server: ExampleServer): string {
  const { url, token, hasClientId, body } = exampleRequest(operation, server)
  const { method } = operation
  const words = ['curl']
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) words.push(`-X ${method}`)
  if (token !== undefined) words.push(`-H "Authorization: Bearer $${token}"`)
  if (hasClientId) words.push('-H "Client-Id: $CLIENT_ID"')
  if (body !== undefined) words.push(...bodyWords(body))
  words.push(quote(url))
  return words.join(' \\\n  ').replace(/^curl \\\n {2}/, 'curl ')
}

/** curl sends forms without being asked. */
function bodyWords(body: ExampleBody): string[] {
  if (body.type === 'form')
    return Object.entries(body.fields).map(([name, value]) => `-d ${quote(`${name}=${value}`)}`)
  const type = `-H 'Content-Type: ${CONTENT_TYPES[body.type]}'`
  if (body.type === 'json') return [type, `-d ${quote(formatLiteral(body.value, JSON_NOTATION, '  '))}`]
  return [type, `--data-binary ${quote(body.lines.map(line => JSON.stringify(line)).join('\n'))}`]
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
