/** A log whose reader stalls: memory is bounded, the program continues, and what was lost is reported. */
import { afterAll, describe, expect, test } from 'bun:test'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LineWriter } from '../../src/kit/telemetry/line-writer.ts'
import { STRAND } from '../support/cli/strand-process.ts'
import { scrape } from '../support/server/scrape.ts'
import { freePort } from '../support/store/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Takes what it is given, and passes it on at once only while it flows. */
class Pipe {
  flows = true
  text = ''
  #onDrain: () => void = () => undefined

  write(text: string): boolean {
    this.text += text
    return this.flows
  }

  once(_event: 'drain', listener: () => void): void {
    this.#onDrain = listener
  }

  drain(): void {
    this.flows = true
    this.#onDrain()
  }
}

describe('lines to a reader', () => {
  const make = () => {
    const pipe = new Pipe()
    return { pipe, writer: new LineWriter(pipe, count => `lost ${count}\n`) }
  }

  test('that reads are passed on at once', () => {
    const { pipe, writer } = make()
    writer.write('one\n')
    writer.write('two\n')
    expect(pipe.text).toBe('one\ntwo\n')
  })

  test('that pauses wait, and come in their order', () => {
    const { pipe, writer } = make()
    pipe.flows = false
    for (const line of ['one\n', 'two\n', 'three\n']) writer.write(line)
    expect(pipe.text).toBe('one\n')
    pipe.drain()
    writer.write('four\n')
    expect(pipe.text).toBe('one\ntwo\nthree\nfour\n')
  })

  test('that stalls are dropped beyond a megabyte, and counted in their place', () => {
    const { pipe, writer } = make()
    pipe.flows = false
    const line = `${'x'.repeat(1023)}\n`
    for (let n = 0; n < 1 + 1024 + 500; n++) writer.write(line)
    expect(pipe.text.length).toBe(1024)
    pipe.drain()
    writer.write('after\n')
    expect(pipe.text.length).toBe(1025 * 1024 + 'lost 500\nafter\n'.length)
    expect(pipe.text).toEndWith('\nlost 500\nafter\n')
    pipe.flows = false
    writer.write('again\n')
    pipe.drain()
    expect(pipe.text).toEndWith('after\nagain\n')
  })

  test('are waited for at the end, but not for ever', async () => {
    const { pipe, writer } = make()
    const state = (flushed: Promise<unknown>) =>
      Promise.race([flushed.then(() => 'flushed'), Bun.sleep(0).then(() => 'waiting')])
    expect(await state(writer.flush(60_000))).toBe('flushed')
    pipe.flows = false
    writer.write('one\n')
    writer.write('two\n')
    await writer.flush(1)
    expect(pipe.text).toBe('one\n')
    const flushed = writer.flush(60_000)
    expect(await state(flushed)).toBe('waiting')
    pipe.drain()
    await flushed
    expect(pipe.text).toBe('one\ntwo\n')
  })
})

describe.skipIf(process.platform !== 'linux')('a server whose log is not read', () => {
  test('continues within bounded memory, and states afterwards what was lost', async () => {
    const fifo = join(folder, 'log')
    expect(Bun.spawnSync(['mkfifo', fifo]).exitCode).toBe(0)
    const port = await freePort()
    const words = ['serve', '--listen', `127.0.0.1:${port}`, '--data', join(folder, 'data'), '--log', 'debug']
    const program = [...STRAND, ...words].map(word => `'${word}'`)
    // Open for both, so that it can be opened for writing before the reader opens it.
    const reader = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
    const server = Bun.spawn(['sh', '-c', `exec ${program.join(' ')} 2> '${fifo}'`], {
      env: { ...process.env, STRAND_RATE_ANONYMOUS: '0' },
      stdin: 'ignore',
      stdout: 'ignore',
    })
    try {
      const url = `http://127.0.0.1:${port}`
      while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) await Bun.sleep(50)
      const memory = async () => (await scrape(url)).series.get('process_resident_memory_bytes') ?? 0
      // Every request asks for its id back, which makes its line long.
      const ask = async (count: number) => {
        for (let n = 0; n < count; n += 50) {
          const answers = Array.from({ length: 50 }, (_, index) =>
            fetch(`${url}/helix/streams`, { headers: { 'X-Request-Id': `request-${n + index}` } }),
          )
          for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200)
        }
      }
      await ask(10_000)
      const before = await memory()
      const dropped = async () => (await scrape(url)).series.get('strand_log_lines_dropped_total') ?? 0
      expect(await dropped()).toBeGreaterThan(0)
      await ask(10_000)
      expect(await dropped()).toBeGreaterThan(9000)
      // Ten thousand lines more are about two megabytes.
      expect((await memory()) - before).toBeLessThan(40 * 1024 * 1024)

      const lost = await dropped()
      let text = ''
      const piece = Buffer.alloc(65_536)
      while (!text.includes('log lines were dropped')) {
        try {
          text += piece.toString('utf8', 0, readSync(reader, piece))
        } catch (error) {
          if ((error as { code?: string }).code !== 'EAGAIN') throw error
          await Bun.sleep(5)
        }
      }
      const [, reported] = /"lost":(\d+),"msg":"log lines were dropped/.exec(text) ?? []
      expect(Number(reported)).toBeGreaterThanOrEqual(lost)
      expect(text.split('\n')[0]).toStartWith('{"level"')
      await ask(50)
    } finally {
      server.kill('SIGKILL')
      await server.exited
      closeSync(reader)
    }
  }, 120_000)
})
