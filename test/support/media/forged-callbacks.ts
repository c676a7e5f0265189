/** Callbacks as media servers send them, and what forgers make of them. */
import type { AdapterName } from '../../../src/contract/resources/media-server.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A publisher as a media server reports it. */
export interface Reported {
  readonly session: string
  readonly login: string
  readonly key: string
  readonly address: string
}

/** The request of each media server for a publisher; those of nginx-rtmp are forms. */
export const PUBLISH: Readonly<Record<AdapterName, (reported: Reported) => Fields>> = {
  'nginx-rtmp': ({ session, login, key, address }) => ({
    app: 'live',
    addr: address,
    clientid: session,
    call: 'publish',
    name: login,
    type: 'live',
    key,
  }),
  mediamtx: ({ session, login, key, address }) => ({
    action: 'publish',
    ip: address,
    path: `live/${login}`,
    id: session,
    query: `key=${key}`,
    token: key,
    password: key,
    protocol: 'rtmp',
  }),
  srs: ({ session, login, key, address }) => ({
    action: 'on_publish',
    client_id: session,
    ip: address,
    stream: login,
    param: `?key=${key}`,
  }),
  'node-media-server': ({ session, login, key, address }) => ({
    action: 'prePublish',
    id: session,
    ip: `${address}:5000`,
    name: login,
    query: { key },
  }),
  generic: ({ session, login, key, address }) => ({ event: 'publish', session, login, key, address }),
}

/** Values where a text or a number should be. */
const NASTY: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  '\0',
  'a\0b',
  '\ud800',
  '%',
  '%ff',
  '?',
  'a?key=b',
  '../../..',
  'x'.repeat(5000),
  [],
  {},
  ['publish'],
  { toString: 1, valueOf: 1 },
  { length: 5 },
  '__proto__',
  'constructor',
  '\r\nX-Forged: 1',
  'rtmp://[',
  'rtmp://h/%ff?key=%ff',
]

/** The fields with each one replaced by each value, and each one left out. */
export function* replaced(fields: Fields, values = NASTY): Generator<Fields> {
  for (const [name, value] of Object.entries(fields)) {
    const { [name]: _, ...others } = fields
    yield others
    for (const nasty of values) yield { ...fields, [name]: nasty }
    if (typeof value !== 'object' || value === null) continue
    for (const inner of replaced(value as Fields, values)) yield { ...fields, [name]: inner }
  }
}

/** As a form, in which everything is text. */
export function formOf(fields: Fields): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
