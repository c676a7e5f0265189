/**
 * A node whose data folder is as small as in the sample for Kubernetes: worlds that are larger go in and out over HTTP, and
 * where there is no room for them the answer reports it and nothing has changed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StrandProcess } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'
const SMALL_MEBIBYTES = 16
const MARKERS = 26_000
const DESCRIPTION = '🌊'.repeat(140)

const folder = mkdtempSync(join(tmpdir(), 'strand-small-'))
const small = join(folder, 'data')
mkdirSync(small)
const run = (words: string[]) => Bun.spawnSync(words).exitCode === 0
const isMounted =
  engines.includes('postgres') &&
  run(['mount', '-t', 'tmpfs', '-o', `size=${SMALL_MEBIBYTES}m`, 'tmpfs', small])
afterAll(() => {
  if (isMounted) run(['umount', small])
  rmSync(folder, { recursive: true, force: true })
})
if (engines.includes('postgres') && !isMounted)
  process.stderr.write('!!! SKIPPED: the tests of a small data folder. Only root can mount one.\n')

/** About 19 MB of lines. */
function* lines(): Generator<object> {
  yield { type: 'user', id: '1', login: 'marker' }
  yield {
    type: 'video',
    id: '2',
    user_id: '1',
    created_at: '2026-03-01T12:00:00Z',
    ended_at: '2026-03-02T12:00:00Z',
  }
  for (let n = 0; n < MARKERS; n++) {
    yield {
      type: 'marker',
      id: n.toString(16).padStart(32, '0'),
      video_id: '2',
      position_seconds: n,
      description: DESCRIPTION,
      created_at: '2026-03-01T12:00:00Z',
    }
  }
}

describe.skipIf(!isMounted)('a small data folder', () => {
  let place: StorePlace
  let body = ''
  beforeAll(async () => {
    place = await createStorePlace('postgres')
    for (const line of lines()) body += `${JSON.stringify(line)}\n`
    expect(Buffer.byteLength(body)).toBeGreaterThan(SMALL_MEBIBYTES * 1024 * 1024)
  })
  afterAll(() => place.remove())

  const withNode = async (
    settings: Readonly<Record<string, string>>,
    work: (url: string) => Promise<void>,
  ) => {
    const port = await freePort()
    const strand = new StrandProcess(['serve', '--listen', `127.0.0.1:${port}`], {
      environment: {
        STRAND_DATA: small,
        DATABASE_URL: place.databaseUrl ?? '',
        STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
        ...settings,
      },
    })
    await strand.serving()
    await work(`http://127.0.0.1:${port}/control`)
    expect(await strand.end('SIGTERM')).toBe(0)
  }
  const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` }
  const bringIn = async (url: string) => {
    const answer = await fetch(`${url}/import`, { method: 'POST', headers, body })
    return {
      status: answer.status,
      last: JSON.parse((await answer.text()).trimEnd().split('\n').at(-1) ?? ''),
    }
  }

  test(
    'where the lines do not fit, the answer is 507 and states what to do, and nothing has changed',
    () =>
      withNode({ STRAND_SPOOL: small }, async url => {
        const { status, last } = await bringIn(url)
        expect([status, last.error]).toEqual([507, 'Insufficient Storage'])
        expect(last.message).toContain('STRAND_SPOOL')
        expect((await fetch(`${url}/users/1`, { headers })).status).toBe(404)
      }),
    120_000,
  )

  test(
    'a larger world goes in, and out as it was',
    () =>
      withNode({}, async url => {
        const { status, last } = await bringIn(url)
        expect(status).toBe(200)
        expect(last.summary.types.marker).toEqual({ created: MARKERS, changed: 0, unchanged: 0 })
        const answer = await fetch(`${url}/export`, { headers })
        expect(answer.status).toBe(200)
        const markers = (await answer.text()).split('\n').filter(line => line.startsWith('{"type":"marker"'))
        expect(markers).toHaveLength(MARKERS)
        expect(JSON.parse(markers[0] ?? '').description).toBe(DESCRIPTION)
      }),
    120_000,
  )

  test(
    'an export that does not fit is answered 507',
    () =>
      withNode({ STRAND_SPOOL: small }, async url => {
        const answer = await fetch(`${url}/export`, { headers })
        expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
          507,
          'Insufficient Storage',
        ])
      }),
    120_000,
  )
})
