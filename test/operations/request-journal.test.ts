/** What the journal of a demo keeps, what it costs, and that no reader sees a secret. */
import { describe, expect, test } from 'bun:test'
import { type AnsweredRequest, RequestJournal } from '../../src/operations/demo/request-journal.ts'

const SECRET = `susr_${'Zq7'.repeat(13).slice(0, 38)}`
/** Short enough to be found in what is left of a secret that was cut. */
const CANARY = 'Zq7Zq7'

function answered(parts: Partial<AnsweredRequest> = {}): AnsweredRequest {
  return {
    at: 0,
    operation: 'GetStreams',
    method: 'GET',
    path: '/helix/streams',
    search: '',
    headers: new Headers(),
    body: undefined,
    client_id: null,
    user_id: null,
    status: 200,
    fault: null,
    answer: null,
    ...parts,
  }
}

async function readBack(parts: Partial<AnsweredRequest>) {
  const journal = new RequestJournal()
  journal.record(answered(parts))
  const [read] = await journal.list({})
  return read
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe('no reader of the journal sees a secret', () => {
  const padded = (length: number) => `${'x '.repeat(length / 2)} `.slice(0, length)
  /** The secret ends before a bound, begins behind it, or is on both sides of it. */
  const around = (bound: number) => Array.from({ length: 20 }, (_, shift) => bound - 50 + 3 * shift)

  test.each([
    ['path', { path: `/helix/${SECRET}` }],
    ['query by name', { search: `first=1&access_token=${CANARY}` }],
    ['query by form', { search: `first=${SECRET}` }],
    ['headers by name', { headers: new Headers({ Authorization: `Bearer ${CANARY}` }) }],
    ['headers by form', { headers: new Headers({ 'X-Anything': SECRET }) }],
    ['a JSON body', { body: bytes(JSON.stringify({ password: CANARY, text: SECRET })) }],
    ['a form', { body: bytes(`client_secret=${CANARY}&code_verifier=${CANARY}&text=${SECRET}`) }],
    ['a JSON answer', { answer: JSON.stringify({ data: [{ stream_key: CANARY, text: SECRET }] }) }],
    ['an answer of the response cache', { answer: new Blob([JSON.stringify({ token: CANARY })]) }],
    ['a long answer', { answer: JSON.stringify({ secret: `${CANARY}"${CANARY}`, rest: padded(20_000) }) }],
  ])('in %s', async (_, parts) => {
    const text = JSON.stringify(await readBack(parts))
    expect(text).not.toContain(CANARY)
    expect(text).toContain('***')
  })

  test('at the end of what is shown, or of what is kept', async () => {
    for (const bound of [16 * 1024, 64 * 1024])
      for (const place of around(bound)) {
        const text = `${padded(place)}${SECRET} ${padded(40_000)}`
        for (const parts of [{ answer: text }, { answer: new Blob([text]) }, { body: bytes(text) }])
          expect(JSON.stringify(await readBack(parts))).not.toContain(CANARY)
      }
    for (const place of around(16 * 1024)) {
      const headers = new Headers({ 'X-Long': `${padded(place)}${SECRET} and more` })
      expect(JSON.stringify(await readBack({ headers }))).not.toContain(CANARY)
    }
  })

  test('although masks make the beginning of a long answer short', async () => {
    // All that is kept becomes shorter than what is shown, so that its end is shown as well: half a secret.
    const read = await readBack({ answer: `${SECRET} `.repeat(3000) })
    expect(JSON.stringify(read)).not.toContain(CANARY)
  })
})

test('what was sent is returned as it was: JSON as a value, other text as text, nothing as null', async () => {
  expect(await readBack({ answer: '{"data":[]}', body: bytes('a=b') })).toMatchObject({
    answer: { data: [] },
    body: 'a=b',
  })
  expect(await readBack({ answer: new Blob(['{"total":1}']) })).toMatchObject({ answer: { total: 1 } })
  expect(await readBack({})).toMatchObject({ answer: null, body: null })
})

test('the journal is bounded in bytes: of long answers fewer than 1000 are kept, the newest', async () => {
  const journal = new RequestJournal()
  for (let sent = 1; sent <= 1000; sent++)
    journal.record(answered({ search: `first=${sent}`, answer: `"${sent}${'é'.repeat(60_000)}"` }))
  const kept = await journal.list({})
  expect(kept.length).toBeGreaterThan(500)
  expect(kept.length).toBeLessThan(600)
  expect(kept.at(-1)).toMatchObject({ number: 1000, query: { first: ['1000'] } })
  expect(journal.total('GetStreams')).toBe(1000)
  // Half of them were kept before, and none is now: their bytes no longer count.
  journal.clear()
  for (let sent = 1; sent <= 400; sent++) journal.record(answered({ answer: 'é'.repeat(60_000) }))
  expect(await journal.list({})).toHaveLength(400)
})

test('of one answer 64 KiB are kept, however long it is', async () => {
  const journal = new RequestJournal()
  const before = process.memoryUsage.rss()
  for (let sent = 0; sent < 200; sent++)
    journal.record(answered({ answer: `${sent} ${'word '.repeat(400_000)}`.trim() }))
  Bun.gc(true)
  expect(await journal.list({})).toHaveLength(200)
  // 200 answers of 2 MB would take 400 MB.
  expect((process.memoryUsage.rss() - before) / 1e6).toBeLessThan(250)
})

test('recording neither parses nor masks: it takes a small part of what reading takes', async () => {
  const stream = {
    id: '41375541868',
    user_login: 'lunar_otter',
    title: 'First light over the reef',
    tags: [],
  }
  const answer = JSON.stringify({ data: Array(100).fill(stream) })
  const headers = new Headers({ Authorization: `Bearer ${SECRET}`, Accept: '*/*', 'User-Agent': 'test' })
  const journal = new RequestJournal()
  const timed = async (work: () => unknown) => {
    const began = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(began)
    return user + system
  }
  const recordAll = () => {
    for (let sent = 0; sent < 1000; sent++) journal.record(answered({ answer, headers, search: 'first=100' }))
  }
  recordAll()
  const recording = await timed(recordAll)
  const reading = await timed(() => journal.list({}))
  expect(recording).toBeLessThan(reading / 5)
})
