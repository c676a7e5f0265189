/** What the test files of the control operations share: the operator's calls, and a look at what the public then sees. */
import { expect } from 'bun:test'
import { SCOPES } from '../../../src/contract/scope.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: a row is whatever the server sent; tests look into it freely
type Row = any

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export const UNKNOWN_UUID = '00000000-0000-4000-8000-000000000000'

/** A request with the operator's token. */
export const asOperator = ({ world }: TestServer, ask: Ask = {}): Ask => ({
  token: world.operator_token,
  ...ask,
})

/** What the server takes for now: a proof may have moved its clock. */
export const nowOf = ({ strand }: TestServer): number => strand.services.clock.now()

let logins = 0

export async function newUser(server: TestServer, more: object = {}): Promise<Row> {
  const [user] = await server.control('POST', '/users', { login: `somebody_${++logins}`, ...more })
  return user
}

export async function newOrganization(server: TestServer): Promise<Row> {
  const [organization] = await server.control('POST', '/organizations', { name: 'Tidepool Works' })
  return organization
}

/** A user token of the demo's client, with every scope that opens something. */
export async function tokenOf(server: TestServer, user_id: string): Promise<string> {
  const [{ access_token }] = await server.control('POST', '/tokens', {
    client_id: server.world.client.id,
    user_id,
    scopes: SCOPES,
  })
  return access_token
}

export async function isGoodToken(server: TestServer, token: string): Promise<boolean> {
  return (await server.call({ path: '/oauth2/validate', token })).status === 200
}

/** The stream of a user as GetStreams shows it, undefined if it does not. */
export async function shownStream(server: TestServer, user_id: string): Promise<Row> {
  const answer = await server.call({ path: '/helix/streams', query: { user_id } })
  expect(answer.status).toBe(200)
  return answer.body.data[0]
}

/** The video that markers of a user's latest stream go to. */
export async function latestVideo(server: TestServer, user_id: string): Promise<string | undefined> {
  const token = await tokenOf(server, user_id)
  const answer = await server.call({ path: '/helix/streams/markers', query: { user_id }, token })
  return answer.body.data?.[0].videos[0].video_id
}

/** Every row of a list, page by page to the end; each page but the last is full, none is empty. */
export async function walk(server: TestServer, path: string, query: Ask['query'] = {}): Promise<Row[]> {
  const rows: Row[] = []
  const first = Number(query.first ?? 20)
  let after: string | undefined
  do {
    const answer = await server.call(asOperator(server, { path, query: { ...query, after } }))
    expect(answer.status).toBe(200)
    const { data, pagination } = answer.body
    rows.push(...data)
    after = pagination.cursor
    expect(Object.keys(pagination)).toEqual(after === undefined ? [] : ['cursor'])
    if (after !== undefined) expect(data).toHaveLength(first)
    expect(data.length).toBeWithin(rows.length === 0 ? 0 : 1, first + 1)
  } while (after !== undefined)
  return rows
}

/** The lines of this type that an export has now. */
export async function exported(server: TestServer, type: string): Promise<Row[]> {
  const { text } = await server.call(asOperator(server, { path: '/control/export' }))
  const lines = text.split('\n').filter(line => line.startsWith(`{"type":"${type}"`))
  return lines.map(line => JSON.parse(line))
}

export const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(row => row.id)

export const byNumber = (ids: readonly string[]): string[] =>
  ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))

/** A failure whose sentence names what it is about. */
export async function naming(name: string, answer: Promise<Answer>): Promise<Answer> {
  expect((await answer).body.message).toContain(`"${name}"`)
  return answer
}

/** An answer without a body. */
export function expectEmpty(answer: Answer): void {
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect(answer.headers.has('content-type')).toBe(false)
}
