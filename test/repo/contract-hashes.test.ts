/**
 * The wire of every operation and event type as hashes, one line each, so that a change of it is seen in review. Texts for
 * readers are left out. After a wanted change: UPDATE_GOLDEN=1 npm test -- test/repo/contract-hashes.test.ts
 */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { operations } from '../../src/contract/index.ts'
import { openapiDocument } from '../../src/contract/reference/openapi.ts'
import { sha256Hex } from '../../src/kit/crypto/digest.ts'

const FILE = 'test/repo/contract-hashes.txt'
const UPDATE = 'UPDATE_GOLDEN=1 npm test -- test/repo/contract-hashes.test.ts'
const HASH_LENGTH = 12
/** Texts for readers, wherever they are strings: `description` can also be the name of a field. */
const PROSE = new Set(['description', 'summary', 'title', 'x-strand-strict'])

// biome-ignore lint/suspicious/noExplicitAny: a document of other people's making is easier to walk without types.
type Json = any

const documents: readonly Json[] = [false, true].map(strict =>
  openapiDocument({ version: '0', serverUrl: 'http://localhost', strict }),
)

/** A document, and the wire of what its references lead to. */
interface Described {
  readonly document: Json
  readonly referred: Map<string, Json>
}

/** Without texts for readers, with what `$ref` leads to in its place. Of examples only the names stay: they are the problems. */
function wireIn(value: Json, within: Described): Json {
  if (Array.isArray(value)) return value.map(each => wireIn(each, within))
  if (typeof value !== 'object' || value === null) return value
  if (typeof value.$ref === 'string') {
    const { document, referred } = within
    const path: string[] = value.$ref.replace(/^#\//, '').split('/')
    const wire =
      referred.get(value.$ref) ??
      wireIn(
        path.reduce((found, name) => found[name], document),
        within,
      )
    referred.set(value.$ref, wire)
    return wire
  }
  const wire: Json = {}
  for (const [name, each] of inOrder(value)) {
    if (PROSE.has(name) && (typeof each === 'string' || Array.isArray(each))) continue
    if (name === 'example') continue
    if (name === 'examples') wire[name] = Object.keys(each).sort()
    // Names of fields, which may be those of keywords.
    else if (name === 'properties')
      wire[name] = inOrder(each).map(([field, schema]) => [field, wireIn(schema, within)])
    else wire[name] = wireIn(each, within)
  }
  return wire
}

/** The order of a declaration is no part of the wire. */
const inOrder = (value: Json): [string, Json][] =>
  Object.entries<Json>(value).sort(([a], [b]) => (a < b ? -1 : 1))

const hashOf = (wire: Json): string => sha256Hex(JSON.stringify(wire)).slice(0, HASH_LENGTH)

/** A line for each operation and event type: its name, its place, and hashes of what is sent and what is answered. */
function contractLines(modes: readonly Json[]): string[] {
  const [plain] = modes
  const all: Described[] = modes.map(document => ({ document, referred: new Map() }))
  const lineOf = (section: 'paths' | 'webhooks', place: string, method: string): string => {
    const described = all.map(each => wireIn(each.document[section][place][method], each))
    const request = described.map(({ responses: _, operationId: __, tags: ___, ...sent }) => sent)
    const answer = described.map(({ responses }) => responses)
    const name = plain[section][place][method].operationId
    const where = section === 'webhooks' ? 'event' : `${method.toUpperCase()} ${place}`
    return `${name} ${where} request ${hashOf(request)} answer ${hashOf(answer)}`
  }
  const methodsIn = (section: 'paths' | 'webhooks') =>
    Object.entries<Json>(plain[section]).flatMap(([place, methods]) =>
      Object.keys(methods)
        .filter(name => name !== 'servers')
        .map(method => lineOf(section, place, method)),
    )
  return [...methodsIn('paths'), ...methodsIn('webhooks')].sort()
}

const present = contractLines(documents)

const readLines = (): string[] => readFileSync(FILE, 'utf8').trim().split('\n')

/** The names of the lines that are in one list only. */
function differing(a: readonly string[], b: readonly string[]): string[] {
  const lines = [...a.filter(line => !b.includes(line)), ...b.filter(line => !a.includes(line))]
  return [...new Set(lines.map(line => line.split(' ')[0] ?? ''))].sort()
}

test('the wire is the one that was promised', () => {
  if (process.env.UPDATE_GOLDEN) writeFileSync(FILE, `${present.join('\n')}\n`)
  const changed = differing(present, readLines())
  if (changed.length > 0)
    throw new Error(
      `the wire of ${changed.join(', ')} changed. Clients rely on it: if that is wanted, give the reason in docs/decisions.md, run\n  ${UPDATE}\nand commit ${FILE}`,
    )
  expect(present).toEqual(readLines())
})

test('every operation has a line', () => {
  const names = new Set(readLines().map(line => line.split(' ')[0]))
  expect(operations.map(({ id }) => id).filter(id => !names.has(id))).toEqual([])
})

/** The names of the lines that a change of both documents changes. */
function changedBy(change: (document: Json) => void): string[] {
  const changed = documents.map(document => structuredClone(document))
  for (const document of changed) change(document)
  return differing(present, contractLines(changed))
}

test.each<[what: string, change: (document: Json) => void, names: string[]]>([
  ['a limit', each => (each.paths['/helix/streams'].get.parameters[1].schema.maxItems = 99), ['GetStreams']],
  [
    'an optional field of a request',
    each => {
      const { schema } = each.paths['/helix/streams/markers'].post.requestBody.content['application/json']
      schema.properties.description.maxLength = 10
    },
    ['CreateStreamMarker'],
  ],
  [
    'a problem',
    each => {
      const { content } = each.paths['/helix/streams'].get.responses[400]
      delete content['application/json'].examples.both_cursors
    },
    ['GetStreams'],
  ],
  ['who may call', each => each.paths['/helix/streams/key'].get.security.pop(), ['GetStreamKey']],
  ['an event', each => delete each.webhooks['stream.online'].post.requestBody.required, ['stream.online']],
])('a change of %s is seen', (_what, change, names) => expect(changedBy(change)).toEqual(names))

test('a change of a schema that operations share is seen at each of them', () => {
  const names = changedBy(each => {
    each.components.schemas.Stream.properties.viewer_count.type = 'string'
  })
  expect(names).toEqual([
    'GetFollowedStreams',
    'GetLatestStreams',
    'GetStream',
    'GetStreams',
    'ListStreams',
    'StartStream',
  ])
})

test('texts for readers are not the wire', () => {
  const names = changedBy(each => {
    const operation = each.paths['/helix/streams'].get
    operation.summary = operation.description = 'another'
    operation.parameters[1].description = 'another'
    operation.responses[200].content['application/json'].example = {}
    each.components.schemas.Stream.description = 'another'
  })
  expect(names).toEqual([])
})
