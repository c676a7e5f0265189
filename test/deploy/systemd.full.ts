/** What systemd reports about the sample units. */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/cli/strand-process.ts'

const analyze = process.env.TEST_SYSTEMD_ANALYZE || undefined
const read = (name: string) => readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')

describe('the unit of systemd', () => {
  test.skipIf(analyze === undefined)('systemd finds nothing wrong with it, and little exposed', () => {
    const place = mkdtempSync(join(tmpdir(), 'strand-unit-'))
    // The executable has to be there for systemd, whatever it is.
    const copy = join(place, 'strand.service')
    writeFileSync(copy, read('strand.service').replaceAll('/usr/local/bin/strand', '/bin/true'))
    const verify = Bun.spawnSync([analyze ?? '', 'verify', '--man=no', copy])
    expect([verify.exitCode, verify.stderr.toString()]).toEqual([0, ''])
    const security = Bun.spawnSync([analyze ?? '', 'security', '--no-pager', '--offline=true', copy])
    const [, exposure] = /exposure level for strand\.service: ([\d.]+)/.exec(security.stdout.toString()) ?? []
    expect(Number(exposure)).toBeLessThan(2)
    rmSync(place, { recursive: true, force: true })
  })
})

describe('the backup units of systemd', () => {
  test.skipIf(analyze === undefined)('systemd finds nothing wrong with them', () => {
    const place = mkdtempSync(join(tmpdir(), 'strand-unit-'))
    for (const name of ['strand-backup.service', 'strand-backup.timer'])
      writeFileSync(join(place, name), read(name))
    const verify = Bun.spawnSync([analyze ?? '', 'verify', '--man=no', join(place, 'strand-backup.timer')])
    expect([verify.exitCode, verify.stderr.toString()]).toEqual([0, ''])
    const when = Bun.spawnSync([
      analyze ?? '',
      'calendar',
      ...[...read('strand-backup.timer').matchAll(/^OnCalendar=(.*)$/gm)].map(([, value = '']) => value),
    ])
    expect(when.exitCode).toBe(0)
    rmSync(place, { recursive: true, force: true })
  })
})
