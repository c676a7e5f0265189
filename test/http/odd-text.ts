/**
 * Every parameter, field and header of every operation is sent odd input. The answer is in the form of
 * its family and never a failure of ours, on both stores, and nothing shows in the log. The default tier sends a share of
 * the texts to each place, the full tier all of them.
 */
import { expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { familyOf, type Operation, queryParameters } from '../../src/contract/operation.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { LONG_TEXT, ODD_TEXTS, type OddText, oddHeaders, violationsIn } from '../support/server/odd-text.ts'
import { raw } from '../support/server/wire.ts'
import type { TestServer } from '../support/server.ts'

const FORM = 'application/x-www-form-urlencoded'
const GRANTS = [
  'client_credentials',
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
]

/** The bytes that a percent-encoded text stands for, be they UTF-8 or not. */
const bytesOf = (encoded: string) =>
  Buffer.from(
    encoded.replaceAll(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

/** A JSON object with one field that holds these bytes as they are, escaped only where JSON needs it. */
export function jsonWith(usual: object, name: string, encoded: string): Uint8Array<ArrayBuffer> {
  const rest = JSON.stringify({ ...usual, [name]: undefined }).slice(1, -1)
  const escaped = Buffer.from(
    bytesOf(encoded)
      .toString('latin1')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what JSON escapes
      .replaceAll(/["\\\x00-\x1f]/g, each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'latin1',
  )
  const parts = [Buffer.from(`{${rest}${rest && ','}"${name}":"`), escaped, Buffer.from('"}')]
  return new Uint8Array(Buffer.concat(parts))
}

const namesOf = (schema: { properties?: object } | undefined) => [
  ...Object.keys(schema?.properties ?? {}),
  '__proto__',
  'constructor',
]

/** A value, and the same name with another value: how that is written depends on the name. */
const TWICE: OddText = { title: 'two values', encoded: 'one', refused: false, isText: true }
const textOf = (odd: OddText, name: string) => (odd === TWICE ? `one&${name}=two` : odd.encoded)

interface Sent {
  readonly title: string
  readonly path: string
  readonly search?: string
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined
  readonly type?: string
}

/** Each place of an operation's input in turn, with this text in it. */
function* placesOf(
  operation: Operation,
  path: string,
  bodies: readonly object[],
  odd: OddText,
): Generator<Sent> {
  const { encoded, title } = odd
  const [usual = {}] = bodies
  const body = operation.body === undefined ? undefined : JSON.stringify(usual)
  if (odd !== LONG_TEXT) {
    for (const segment of Object.keys(operation.params?.properties ?? {})) {
      const filled = operation.path.replace(`{${segment}}`, encoded).replaceAll(/\{\w+\}/g, '1')
      yield { title: `${title} in the path as ${segment}`, path: filled, body }
    }
    for (const name of namesOf(queryParameters(operation))) {
      yield { title: `${title} in the query as ${name}`, path, search: `${name}=${textOf(odd, name)}`, body }
    }
  }
  if (operation.body === undefined) return
  for (const each of bodies) {
    for (const name of namesOf(operation.body)) {
      yield { title: `${title} in JSON as ${name}`, path, body: jsonWith(each, name, encoded) }
      if (operation.bodyFrom !== 'anywhere') continue
      if (odd !== LONG_TEXT)
        yield {
          title: `${title} in the query as ${name}`,
          path,
          search: `${name}=${textOf(odd, name)}`,
          body,
        }
      if (familyOf(operation) !== 'oauth') continue
      const rest = new URLSearchParams(Object.entries(each).filter(([other]) => other !== name))
      const form = `${rest}&${name}=${textOf(odd, name)}`
      yield { title: `${title} in a form as ${name}`, path, body: form, type: FORM }
    }
  }
}

function bodiesFor(operation: Operation, { world }: TestServer): readonly object[] {
  const client = { client_id: world.client.id, client_secret: world.client.secret }
  if (operation.id === 'CreateToken') return GRANTS.map(grant_type => ({ grant_type, ...client }))
  if (familyOf(operation) === 'oauth') return [{ ...client, token: 'x', user_id: world.broadcaster.id }]
  return [(operation.example.body as object | undefined) ?? {}]
}

/** One that lets the request in, and is none that an operation below takes away. */
function tokenFor(operation: Operation, { world }: TestServer): string {
  // Building the world again takes seconds, and it has no input: it is asked as a stranger would.
  if (operation.id === 'ResetWorld') return world.client.app_token
  if (familyOf(operation) === 'control') return world.operator_token
  return operation.id.includes('Entitlements') ? world.client.app_token : world.broadcaster.token
}

const pathOf = (operation: Operation, { world }: TestServer) =>
  operation.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    name === 'user_id' && operation.method !== 'DELETE' ? (world.users[1]?.id ?? '') : '1',
  )

// All of it comes from one address, faster than the limit of the OAuth side allows.
const UNLIMITED = { address: 0, client: 0, validation: 0 }

/** One in so many of the texts goes to each place; with 1, all of them. */
export function describeOddOperations(oneIn: number): void {
  onEachStore('odd text in operations', { config: { oauthRates: UNLIMITED } }, server => {
    for (const operation of operations) {
      test(`4xx or better: ${operation.id}`, async () => {
        const before = server().logLines.length
        const path = pathOf(operation, server())
        const bodies = bodiesFor(operation, server())
        for (const [turn, odd] of [...ODD_TEXTS, LONG_TEXT, TWICE].entries()) {
          for (const [place, sent] of [...placesOf(operation, path, bodies, odd)].entries()) {
            if ((turn + place) % oneIn !== 0) continue
            const response = await fetch(`${server().url}${sent.path}?${sent.search ?? ''}`, {
              method: operation.method,
              headers: {
                Authorization: `Bearer ${tokenFor(operation, server())}`,
                ...(sent.type && { 'Content-Type': sent.type }),
              },
              ...(sent.body !== undefined && { body: sent.body }),
            })
            const text = await response.text()
            expect([sent.title, response.status < 500]).toEqual([sent.title, true])
            if (response.status >= 400) expect(JSON.parse(text).status).toBe(response.status)
          }
        }
        if (operation.id === 'PlanFault') await server().control('DELETE', '/faults')
        expect(violationsIn(server().logLines.slice(before))).toEqual([])
      }, 180_000)

      test(`4xx or better with odd headers: ${operation.id}`, async () => {
        const before = server().logLines.length
        for (const [header, value] of oddHeaders(oneIn)) {
          const head = [`${operation.method} ${pathOf(operation, server())} HTTP/1.1`, 'Host: localhost']
          if (header !== 'Authorization') head.push(`Authorization: Bearer ${tokenFor(operation, server())}`)
          head.push(`${header}: ${value}`, 'Content-Length: 2', '', '{}')
          const answer = await raw(server().url, head.join('\r\n'))
          expect([header, value, (answer?.status ?? 400) < 500]).toEqual([header, value, true])
        }
        expect(violationsIn(server().logLines.slice(before))).toEqual([])
      })
    }
  })
}
