/** `strand marker export` as a person meets it: to standard output or a file, on a store or a server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'

const LINES = [
  { type: 'user', id: '4711', login: 'lunar_otter' },
  {
    type: 'video',
    id: '900',
    user_id: '4711',
    created_at: '2026-03-01T12:00:00Z',
    ended_at: '2026-03-01T14:00:00Z',
  },
  ...[0, 244, 3723].map((position_seconds, index) => ({
    type: 'marker',
    id: String(index).padStart(32, '0'),
    video_id: '900',
    position_seconds,
    description: `part ${index + 1}\u001b[31m`,
    created_at: '2026-03-01T12:04:04Z',
  })),
]
const CHAPTERS = '0:00 part 1 [31m\n4:04 part 2 [31m\n1:02:03 part 3 [31m\n'

for (const engine of engines) {
  describe(`strand marker export on ${engine}`, () => {
    let shell: Shell
    let place: StorePlace
    beforeAll(async () => {
      place = await createStorePlace(engine, { empty: true })
      shell = new Shell({
        STRAND_DATA: place.folder,
        STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
        ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }),
      })
      shell.write('lines.ndjson', LINES.map(line => `${JSON.stringify(line)}\n`).join(''))
      await shell.output('strand migrate && strand import lines.ndjson')
    })
    afterAll(async () => {
      await endAllProcesses()
      shell.remove()
      await place.remove()
    })

    test('prints the file, and nothing that would steer a terminal', async () => {
      expect(await shell.output('strand marker export 900 --format youtube')).toBe(CHAPTERS)
      const csv = await shell.output('strand marker export 900 --format csv --fps 25')
      expect(csv.split('\r\n')).toHaveLength(5)
      expect(csv).toContain(',244,00:04:04:00,')
      expect(csv).not.toContain('\u001b')
    })

    test('--output writes a file, and replaces one with --yes only', async () => {
      const file = join(shell.folder, 'chapters.txt')
      const line = 'strand marker export 900 --format youtube --output chapters.txt'
      expect(await shell.output(line)).toBe('Saved chapters.txt.\n')
      expect(readFileSync(file, 'utf8')).toBe(CHAPTERS)
      const before = statSync(file).mtimeMs
      const refused = await shell.run(line)
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([
        2,
        '',
        'strand: chapters.txt exists. Overwrite it? Confirm with --yes.\n',
      ])
      expect(statSync(file).mtimeMs).toBe(before)
      await shell.output(`${line} --yes`)
      expect(readdirSync(shell.folder).filter(name => name.includes('unfinished'))).toEqual([])
    })

    test('works on a running server', async () => {
      const url = `http://127.0.0.1:${await freePort()}`
      const server = shell.start(`strand serve --listen ${url.replace('http://', '')}`)
      await server.until(({ stderr }) => stderr.includes('"serving"') || stderr.includes('serving'))
      expect(await shell.output(`strand marker export 900 --format youtube --url ${url}`)).toBe(CHAPTERS)
    })

    for (const [line, code, sentence] of [
      ['900', 2, /^strand: strand marker export requires --format; see strand marker export --help$/],
      ['900 --format xls', 2, /^strand: invalid --format: must be one of csv, edl, fcpxml, otio, ffmetadata/],
      ['900 --format csv --fps 12', 2, /^strand: invalid --fps: must be one of 23\.976, 24, 25, 29\.97, 30/],
      ['901 --format csv', 1, /^strand: There is no video with the id "901"\.$/],
      ['901 --format csv --output none.csv', 1, /^strand: There is no video with the id "901"\.$/],
      ['900 --format csv --output no-folder/x.csv', 1, /^strand: cannot write x\.csv: no folder/],
    ] as const) {
      test(`${code} for ${line}`, async () => {
        const refused = await shell.run(`strand marker export ${line}`)
        expect([refused.code, refused.stdout]).toEqual([code, ''])
        expect(refused.stderr.trimEnd()).toMatch(sentence)
        expect(existsSync(join(shell.folder, 'none.csv'))).toBe(false)
      })
    }
  })
}
