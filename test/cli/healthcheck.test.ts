import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

afterEach(endAllProcesses)

async function ask(words: readonly string[], environment: Environment = {}) {
  const strand = new StrandProcess(['healthcheck', ...words], { environment })
  const code = await strand.exit()
  return { code, stdout: strand.stdout, stderr: strand.stderr }
}

describe('strand healthcheck', () => {
  test('0 and silent when the server of the settings is well, 1 with a sentence when it is not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-healthcheck-'))
    const port = await freePort()
    // On every address: the question goes to loopback.
    const environment = { STRAND_LISTEN: `0.0.0.0:${port}`, STRAND_OPERATOR_LISTEN: 'localhost:0' }
    const serve = new StrandProcess(['serve', '--data', folder], { environment })
    expect(await ask(['--wait', '30'], environment)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await ask([], environment)).toEqual({ code: 0, stdout: '', stderr: '' })

    const file = join(folder, 'settings')
    writeFileSync(file, `STRAND_LISTEN=localhost:${port}\n`)
    expect((await ask(['--config', file])).code).toBe(0)

    await serve.end('SIGTERM')
    const { code, stderr } = await ask([], environment)
    expect(code).toBe(1)
    expect(stderr).toStartWith(`strand: http://127.0.0.1:${port}/healthz did not respond`)
    rmSync(folder, { recursive: true, force: true })
  })

  test('1 when the answer is not a good one', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response('', { status: 503 }) })
    const { code, stderr } = await ask(['--url', `http://localhost:${server.port}/`])
    expect([code, stderr]).toEqual([1, `strand: http://localhost:${server.port}/healthz returned 503\n`])
    const result = await ask(['--url', `http://localhost:${server.port}`, '--json'])
    const url = `http://localhost:${server.port}/healthz`
    expect([result.code, JSON.parse(result.stdout)]).toEqual([1, { url, ok: false, failure: 'returned 503' }])
    await server.stop(true)
  })

  test('2 when it is called wrongly', async () => {
    expect((await ask(['--wait', 'long'])).code).toBe(2)
    expect(await ask(['--url', 'foo'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'strand: invalid --url: must be an http or https URL, not "foo"\n',
    })
  })
})
