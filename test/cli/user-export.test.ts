/** `strand user export` and the report of `strand user delete`, on a store and on a server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'
const LINES = [
  { type: 'user', id: '4711', login: 'lunar_otter', email: 'otter@example.com' },
  { type: 'user', id: '4712', login: 'brave_newt' },
  { type: 'follow', user_id: '4711', broadcaster_id: '4712', followed_at: '2026-03-01T12:00:00Z' },
  {
    type: 'video',
    id: '900',
    user_id: '4711',
    created_at: '2026-03-01T12:00:00Z',
    ended_at: '2026-03-01T14:00:00Z',
  },
]
const FOLDER_ID = 'the-folder'

/** The rows of a report, as programs read them. */
interface Row {
  readonly data: string
  readonly result: string
  readonly rows: number | null
}

for (const engine of engines) {
  describe(`strand user export and delete on ${engine}`, () => {
    let shell: Shell
    let place: StorePlace
    const linesIn = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line))
    beforeAll(async () => {
      place = await createStorePlace(engine, { empty: true })
      shell = new Shell({
        STRAND_DATA: place.folder,
        STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
        ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }),
      })
      shell.write('lines.ndjson', LINES.map(line => `${JSON.stringify(line)}\n`).join(''))
      await shell.output('strand migrate && strand import lines.ndjson')
      mkdirSync(join(place.folder, 'recordings'))
      writeFileSync(join(place.folder, 'recordings', 'folder-id'), FOLDER_ID)
      writeFileSync(join(place.folder, 'recordings', '900.mp4'), new Uint8Array(12_345))
      writeFileSync(join(place.folder, 'recordings', '900.jpg'), new Uint8Array(321))
      await executeIn(
        place,
        `insert into recording_files (video_id, part, folder, url, state, published_at, changed_at)
         values ('900', 1, '${FOLDER_ID}', '', 'local', '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z')`,
      )
    })
    afterAll(async () => {
      await endAllProcesses()
      shell.remove()
      await place.remove()
    })

    test('everything by login, with the sizes of the files of this node', async () => {
      const lines = linesIn(await shell.output('strand user export lunar_otter'))
      expect(lines[0].person).toMatchObject({ id: '4711', login: 'lunar_otter' })
      const rowOf = (table: string) => lines.find(line => line.table === table)?.row
      expect(rowOf('users')).toMatchObject({ email: 'otter@example.com', password_hash: null })
      expect(rowOf('stream_keys')).toMatchObject({ version: 1, sealed: 'withheld', lookup_hash: 'withheld' })
      expect(rowOf('follows')).toMatchObject({ broadcaster_id: '4712' })
      expect(lines.filter(line => 'media' in line).map(({ media }) => media)).toMatchObject([
        { video_id: '900', kind: 'recording', place: 'disk', bytes: 12_345 },
        { video_id: '900', kind: 'thumbnail', place: 'disk', bytes: 321 },
      ])
      expect(lines.at(-1).summary).toMatchObject({ media_files: 2, media_bytes: 12_666 })
    })

    test('--output writes a file for this user alone, and an unknown login none', async () => {
      expect(await shell.output('strand user export 4711 --output person.ndjson')).toBe(
        'Saved person.ndjson.\n',
      )
      const file = join(shell.folder, 'person.ndjson')
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(linesIn(readFileSync(file, 'utf8')).at(-1)).toHaveProperty('summary')
      const unknown = await shell.run('strand user export 999 --output none.ndjson')
      expect([unknown.code, unknown.stdout]).toEqual([1, ''])
      expect(unknown.stderr).toContain('There is no user with the id "999".')
      expect(existsSync(join(shell.folder, 'none.ndjson'))).toBe(false)
    })

    test('the same from a server, with a report of the deletion', async () => {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const server = shell.start(`strand serve --listen 127.0.0.1:${port}`)
      await server.until(({ stderr }) => stderr.includes('"serving"') || stderr.includes('serving'))
      const [local, remote] = [
        linesIn(await shell.output('strand user export lunar_otter')),
        linesIn(await shell.output(`strand user export lunar_otter --url ${url}`)),
      ]
      // Each export is recorded, and in the next one.
      const comparable = (lines: { table?: string }[]) =>
        lines.filter(line => line.table !== undefined && line.table !== 'audit')
      expect(comparable(remote)).toEqual(comparable(local))
      const report: { data: Row[] } = JSON.parse(
        await shell.output(`strand user delete lunar_otter --yes --json --url ${url}`),
      )
      expect(report.data).toContainEqual(
        expect.objectContaining({ data: 'follows', result: 'removed', rows: 1 }),
      )
      expect(report.data).toContainEqual(expect.objectContaining({ data: 'media', rows: 1 }))
      expect(report.data.at(-1)).toMatchObject({ data: 'backups', result: 'kept', rows: null })
    })

    test('a local store reports a deletion in a table', async () => {
      const printed = await shell.output('strand user delete brave_newt --yes')
      expect(printed).toMatch(/^data +users$/m)
      expect(printed).toContain('backups')
    })
  })
}
