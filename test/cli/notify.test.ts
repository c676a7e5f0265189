import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { hasPostgres, onNewDatabase, removeDatabases } from '../support/store/databases.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'strand-notify-'))
})
afterEach(endAllProcesses)
afterAll(async () => {
  await removeDatabases()
  rmSync(folder, { recursive: true, force: true })
})

/** A program by the name of systemd's, which writes down how it was called. */
function programs(name: string, script: string): { PATH: string; calls: string } {
  const place = join(folder, name)
  mkdirSync(place)
  const calls = join(place, 'calls')
  writeFileSync(join(place, 'systemd-notify'), `#!/bin/sh\n${script.replace('CALLS', calls)}\n`, {
    mode: 0o755,
  })
  return { PATH: `${place}:${process.env.PATH}`, calls }
}

const serve = (name: string, words: readonly string[], PATH: string, environment: Environment = {}) =>
  new StrandProcess(['serve', '--listen', 'localhost:0', '--data', join(folder, `data-${name}`), ...words], {
    environment: { PATH, NOTIFY_SOCKET: '/run/somewhere', ...environment },
  })

describe('strand serve --notify', () => {
  for (const [name, words] of Object.entries({ 'one process': [], workers: ['--workers', '2'] })) {
    const isAlone = words.length === 0
    test.skipIf(!isAlone && !hasPostgres)(`notifies systemd once, when it serves: ${name}`, async () => {
      const { PATH, calls } = programs(name.replace(' ', '-'), 'echo "$@ $NOTIFY_SOCKET" >> CALLS')
      const environment = isAlone ? {} : await onNewDatabase()
      const strand = serve(name, ['--notify', ...words], PATH, environment)
      await strand.until(() => existsSync(calls) && readFileSync(calls, 'utf8').endsWith('\n'))
      // The line of a worker may arrive later.
      await strand.until(({ stderr }) => stderr.includes('"msg":"serving"'))
      expect(readFileSync(calls, 'utf8')).toBe('--ready /run/somewhere\n')
      expect(await strand.end('SIGTERM')).toBe(0)
    })
  }

  test('serves on where systemd cannot be notified, and logs it', async () => {
    const { PATH } = programs('failing', 'echo "no one there" >&2; exit 1')
    const strand = serve('failing', ['--notify'], PATH)
    await strand.until(({ stderr }) => stderr.includes('could not notify systemd'))
    expect(strand.stderr).toContain('no one there')
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  test('without the flag nothing is sent', async () => {
    const { PATH, calls } = programs('silent', 'echo called >> CALLS')
    const strand = await serve('silent', [], PATH).serving()
    expect(await strand.end('SIGTERM')).toBe(0)
    expect(existsSync(calls)).toBe(false)
  })
})
