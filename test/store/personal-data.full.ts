/** The export and the deletion of a person with a million follows, and of the files of another. */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onEachStore } from '../support/server/each-store.ts'
import { startTestServer } from '../support/server.ts'

const FOLLOWS = Number(process.env.TEST_FOLLOWS ?? 1_000_000)
const PERSON = '7770001112223'
/** Far less than the rows of the export take as objects. */
const MAX_GROWTH_BYTES = 200 * 1024 ** 2

onEachStore('a person with many follows', {}, (server, engine) => {
  test(`is exported in bounded memory, and deleted (${FOLLOWS} follows)`, async () => {
    await server().control('PUT', `/users/${PERSON}`, { login: 'follows_all' })
    const count = engine === 'sqlite' ? 'n' : 'n::text'
    const numbers =
      engine === 'sqlite'
        ? `with recursive s(n) as (select 1000000000 union all select n + 1 from s where n < ${1e9 + FOLLOWS - 1})`
        : `with s(n) as (select generate_series(1000000000, ${1e9 + FOLLOWS - 1}))`
    const id = engine === 'sqlite' ? `cast(${count} as text)` : count
    await server().execute(
      `insert into users (id, login, display_name, display_name_normalized, created_at)
       ${numbers} select ${id}, 'u' || ${id}, 'U', 'u', '2026-03-01T00:00:00.000Z' from s`,
    )
    await server().execute(
      `insert into follows (user_id, broadcaster_id, followed_at)
       ${numbers} select '${PERSON}', ${id}, '2026-03-01T00:00:00Z' from s`,
    )
    const { world } = server()
    const headers = { Authorization: `Bearer ${world.operator_token}` }
    const url = `${server().url}/control/users/${PERSON}`
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    let most = before
    const started = performance.now()
    const response = await fetch(`${url}/export`, { method: 'POST', headers })
    expect(response.status).toBe(200)
    let [lines, tail] = [0, '']
    const decoder = new TextDecoder()
    for await (const piece of response.body ?? new Blob().stream()) {
      for (const byte of piece) if (byte === 0x0a) lines += 1
      tail = (tail + decoder.decode(piece, { stream: true })).slice(-20_000)
      most = Math.max(most, process.memoryUsage.rss())
    }
    const exported = performance.now()
    const summary = JSON.parse(tail.trimEnd().split('\n').at(-1) ?? '').summary
    expect(summary.rows).toMatchObject({ users: 1, follows: FOLLOWS })
    expect(lines).toBeGreaterThan(FOLLOWS)
    expect(most - before).toBeLessThan(MAX_GROWTH_BYTES)
    const report = await server().control('DELETE', `/users/${PERSON}`)
    expect(report).toContainEqual({ data: 'follows', result: 'removed', rows: FOLLOWS, reason: '' })
    const left = await server().execute(
      `select (select count(*) from follows where user_id = '${PERSON}') as follows,
              (select count(*) from follow_counts where followers <> 0 and length(user_id) = 10) as counts`,
    )
    expect(Number(left[0].follows)).toBe(0)
    expect(Number(left[0].counts)).toBe(0)
    process.stderr.write(
      `${engine}: ${FOLLOWS} follows exported in ${seconds(started, exported)} s, deleted in ${seconds(exported, performance.now())} s, memory grew by ${Math.round((most - before) / 1024 ** 2)} MiB\n`,
    )
  }, 600_000)
})

const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1)

test('recording and thumbnail of a deleted user are gone from disk within about a minute', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'strand-personal-data-'))
  const server = await startTestServer('sqlite', { config: { dataFolder, record: true } })
  try {
    await server.control('PUT', `/users/${PERSON}`, { login: 'recorded' })
    await server.control('PUT', `/channels/${PERSON}/stream`, {})
    const { data } = (await server.call({ path: '/helix/streams', query: { user_id: PERSON } })).body
    expect(data).toHaveLength(1)
    const [{ id }] = await server.control('GET', `/videos?user_id=${PERSON}`)
    await server.control('DELETE', `/channels/${PERSON}/stream`)
    mkdirSync(join(dataFolder, 'recordings'), { recursive: true })
    const files = ['mp4', 'm3u8', 'jpg'].map(ending => join(dataFolder, 'recordings', `${id}.${ending}`))
    for (const file of files) writeFileSync(file, 'video')
    await server.control('DELETE', `/users/${PERSON}`)
    while (files.some(file => existsSync(file))) await Bun.sleep(200)
  } finally {
    await server.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}, 300_000)
