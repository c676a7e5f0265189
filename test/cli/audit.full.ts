/** `strand audit` as a person meets it, on both stores and beside a server that runs. */
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const TOKEN = 'an-operator-token-for-these-tests'

afterEach(endAllProcesses)

for (const engine of engines) {
  describe(`strand audit on ${engine}`, () => {
    let place: StorePlace
    beforeAll(async () => {
      place = await createStorePlace(engine)
      const port = await freePort()
      const strand = new StrandProcess(['serve', '--listen', `localhost:${port}`], {
        environment: surroundings(),
      })
      await strand.serving()
      for (const name of ['One', 'Two', 'Three']) {
        const response = await fetch(`http://localhost:${port}/control/games`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${TOKEN}` },
          body: JSON.stringify({ name }),
        })
        expect(response.status).toBe(200)
      }
      expect((await run(['verify'])).stdout).toStartWith('The audit log is intact: 3 rows in 1 chain.\n')
      await strand.end('SIGTERM')
    })
    afterAll(() => place.remove())

    const surroundings = () => ({
      STRAND_DATA: place.folder,
      STRAND_OPERATOR_TOKEN: TOKEN,
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
    })

    const run = async (words: readonly string[]) => {
      const strand = new StrandProcess(['audit', ...words], { environment: surroundings() })
      return { code: await strand.exit(), stdout: strand.stdout, stderr: strand.stderr }
    }

    /** Does something to the store behind Strand's back. */
    const tamper = async (statement: string) => {
      if (place.databaseUrl === undefined) {
        const connection = new Database(`${place.folder}/strand.db`)
        connection.run(statement)
        connection.close()
        return
      }
      const client = new SQL(place.databaseUrl, { max: 1 })
      await client.unsafe(statement)
      await client.close()
    }

    test('verify reports how many rows there are and where each chain ends', async () => {
      const { code, stdout, stderr } = await run(['verify'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/^The audit log is intact: 3 rows in 1 chain\.\noperator:3:[0-9a-f]{64}\n$/)
      const result = await run(['verify', '--json'])
      const hash = stdout.slice(-65, -1)
      expect(JSON.parse(result.stdout)).toEqual({ rows: 3, heads: [{ chain: 'operator', seq: 3, hash }] })
    })

    test('verify holds rows against what was kept elsewhere', async () => {
      const line = (await run(['verify'])).stdout.split('\n')[1] ?? ''
      for (const kept of [line, `${line}\n${line}\n`]) {
        expect(await run(['verify', '--expect', kept])).toMatchObject({ code: 0, stderr: '' })
      }
      const wrong = (result: string) => `strand: the audit log is broken at row ${result}\n`
      const altered = line.replace(/.$/, last => (last === '0' ? '1' : '0'))
      expect(await run(['verify', '--expect', line, '--expect', altered])).toEqual({
        code: 1,
        stdout: '',
        stderr: wrong('3 of the chain "operator": its hash differs from the expected one'),
      })
      expect(await run(['verify', '--expect', line.replace(':3:', ':4:')])).toMatchObject({
        code: 1,
        stderr: wrong('4 of the chain "operator": it is expected but missing'),
      })
      const garbled = await run(['verify', '--expect', 'operator:3'])
      expect(garbled).toMatchObject({ code: 2, stdout: '' })
    })

    test('list shows the newest first, filtered, for people and as JSON', async () => {
      const all = await run(['list'])
      expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' })
      const [head, ...lines] = all.stdout.trimEnd().split('\n')
      expect(head).toMatch(/^AT +ACTOR +OPERATION +SUBJECT$/i)
      expect(lines).toHaveLength(3)
      expect(lines[0]).toMatch(/^2\S+Z +operator +CreateGame +game\/\d+$/)
      const { data } = JSON.parse((await run(['list', '--json', '--first', '2'])).stdout)
      expect(data.map((row: { after: { name: string } }) => row.after.name)).toEqual(['Three', 'Two'])
      const subject = data[1].subject
      const one = JSON.parse((await run(['list', '--json', '--subject', subject])).stdout)
      expect(one.data).toEqual([data[1]])
      const none = JSON.parse((await run(['list', '--json', '--since', '2999-01-01T00:00:00Z'])).stdout)
      expect(none.data).toEqual([])
    })

    test('wrong words end with one sentence', async () => {
      for (const [code, words] of [
        [2, ['list', '--since', 'yesterday']],
        [1, ['list', '--until', '2026-02-30T00:00:00Z']],
        [2, ['list', '--first', '0']],
        [2, ['verify', '--nonsense']],
      ] as const) {
        const result = await run(words)
        expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' })
        expect(result.stderr).toMatch(/^\S[^\n]+\n$/)
      }
    })

    test('verify names the first row that was altered, and ends with 1', async () => {
      await tamper(`update audit set actor = 'another' where seq = 2`)
      const { code, stdout, stderr } = await run(['verify'])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(
        'strand: the audit log is broken at row 2 of the chain "operator": its hash does not match its contents\n',
      )
      const result = await run(['verify', '--json'])
      expect(result.code).toBe(1)
      expect(JSON.parse(result.stdout)).toMatchObject({ flaw: { chain: 'operator', seq: 2 } })
      await tamper(`delete from audit where seq = 2`)
      expect((await run(['verify'])).stderr).toContain('row 2 of the chain "operator": it is missing')
    })

    test('a log that was emptied is whole only after retention, and not what was expected', async () => {
      const hash = 'a'.repeat(64)
      await tamper('delete from audit')
      await tamper('update audit_heads set seq = 9, begins_after_seq = 9')
      await tamper('update audit_heads set begins_after_hash = hash')
      const expecting = ['verify', '--expect', `operator:1:${hash}`]
      expect(await run(expecting)).toMatchObject({
        code: 1,
        stderr:
          'strand: the audit log is broken at row 10 of the chain "operator": it is the first, and no retention has removed those before it\n',
      })
      expect(await run([...expecting, '--after-retention'])).toMatchObject({
        code: 0,
        stderr:
          'Row 1 of the chain "operator" is no longer kept and cannot be checked.\nThe chain "operator" begins with row 10; earlier rows were removed.\n',
      })
      await tamper('delete from audit_heads')
      expect((await run(['verify'])).code).toBe(0)
      expect(await run(['verify', '--expect', `operator:1:${hash}`])).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'strand: the audit log is broken at row 1 of the chain "operator": it is expected but missing\n',
      })
    })
  })
}

test('a folder without a store is not made, and named in one sentence', async () => {
  const strand = new StrandProcess(['audit', 'verify', '--data', '/nonexistent/strand'])
  expect(await strand.exit()).toBe(1)
  expect(strand.stderr).toBe(
    'strand: no store in /nonexistent/strand: give its folder with --data, or create one with strand migrate\n',
  )
})
