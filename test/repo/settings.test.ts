import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { InvalidSettings, readConfig } from '../../src/config/config.ts'
import { settings } from '../../src/config/settings.ts'

function integrityErrors(settings: Record<string, string>): readonly string[] {
  try {
    readConfig({}, undefined, settings)
    return []
  } catch (error) {
    if (error instanceof InvalidSettings) return error.violations
    throw error
  }
}

describe('settings', () => {
  test('without any, the server is on localhost:8080 with the embedded store', () => {
    const config = readConfig({}, undefined)
    expect(config.listen).toEqual({ host: 'localhost', port: 8080 })
    expect(config.dataFolder).toBe('./data')
    expect(config.databaseUrl).toBeUndefined()
    expect(config.rateLimits).toEqual({ app: 800, user: 800, anonymous: 800 })
  })

  test('all wrong ones are reported at once', () => {
    const violations = integrityErrors({
      STRAND_LISTEN: 'nowhere',
      STRAND_LOG: 'loud',
      STRAND_RATE_APP: '-1',
      STRAND_MASTER_KEYS: 'short:AAAA',
      STRAND_OPERATOR_TOKEN: 'tiny',
      STRAND_TRUSTED_PROXIES: 'everyone',
      STRAND_PUBLIC_URL: 'ftp://x',
      DATABASE_URL: 'mysql://x',
      STRAND_LISTN: 'a typing mistake',
    })
    for (const name of [
      'LISTEN',
      'LOG',
      'RATE_APP',
      'MASTER_KEYS',
      'OPERATOR_TOKEN',
      'TRUSTED_PROXIES',
      'PUBLIC_URL',
    ]) {
      expect(violations.filter(each => each.startsWith(`invalid STRAND_${name}: must be `))).toHaveLength(1)
    }
    expect(violations.filter(each => each.startsWith('invalid DATABASE_URL: '))).toHaveLength(1)
    expect(violations).toContain('unknown setting STRAND_LISTN: did you mean STRAND_LISTEN?')
  })

  test('a message does not repeat a secret', () => {
    const secret = 'hunter2-canary'
    const violations = integrityErrors({
      STRAND_OPERATOR_TOKEN: secret,
      STRAND_MASTER_KEYS: secret,
      DATABASE_URL: `x://u:${secret}@h`,
    })
    expect(violations).toHaveLength(3)
    expect(violations.join('\n')).not.toContain(secret)
  })

  test('a listener that others can reach needs a separate listener for the operator', () => {
    expect(integrityErrors({ STRAND_LISTEN: '0.0.0.0:8080' })[0]).toContain('STRAND_OPERATOR_LISTEN')
    expect(
      integrityErrors({ STRAND_LISTEN: '0.0.0.0:8080', STRAND_OPERATOR_LISTEN: 'localhost:8081' }),
    ).toEqual([])
    expect(integrityErrors({ STRAND_LISTEN: '[::1]:8080' })).toEqual([])
  })

  test('so does one on loopback with a proxy in front of it', () => {
    const proxied = { STRAND_PUBLIC_URL: 'https://api.example.org' }
    expect(integrityErrors(proxied)).toEqual([
      expect.stringMatching(/^invalid STRAND_PUBLIC_URL: .*STRAND_OPERATOR_LISTEN/),
    ])
    expect(integrityErrors({ STRAND_TRUSTED_PROXIES: '127.0.0.1' })[0]).toMatch(
      /^invalid STRAND_TRUSTED_PROXIES: a proxy/,
    )
    expect(integrityErrors({ ...proxied, STRAND_OPERATOR_LISTEN: 'localhost:8081' })).toEqual([])
    expect(integrityErrors({ STRAND_PUBLIC_URL: 'http://localhost:8080' })).toEqual([])
    expect(integrityErrors({ STRAND_PUBLIC_URL: 'http://[::1]:8080' })).toEqual([])
  })

  test('what came from a flag is reported by the flag', () => {
    const wrong = { STRAND_LISTEN: 'nowhere', DATABASE_URL: 'mysql://x' }
    const read = () => readConfig(wrong, undefined, { STRAND_LISTEN: 'localhost:1', STRAND_LOG: 'loud' })
    expect(read).toThrow(
      expect.objectContaining({
        hasInvalidFlag: true,
        violations: [
          'invalid --listen: must be host:port, not "nowhere"',
          'invalid --database-url: must be a postgres or postgresql URL',
          expect.stringMatching(/^invalid STRAND_LOG: must be one of /),
        ],
      }),
    )
    expect(() => readConfig({}, undefined, wrong)).toThrow(expect.objectContaining({ hasInvalidFlag: false }))
  })

  test('flags win over the file', () => {
    const file = join(tmpdir(), `strand-settings-${process.pid}.env`)
    writeFileSync(file, 'STRAND_DATA=from-file\nSTRAND_LOG=warn\n')
    const config = readConfig({ STRAND_DATA: 'from-flag' }, file)
    expect([config.dataFolder, config.logLevel]).toEqual(['from-flag', 'warn'])
    expect(() => readConfig({}, '/nowhere/settings.env')).toThrow(InvalidSettings)
  })

  test('an empty value in the environment means the default, not the value of the file', () => {
    const file = join(tmpdir(), `strand-empty-${process.pid}.env`)
    writeFileSync(file, 'STRAND_LOG=warn\n')
    expect(readConfig({}, file, { STRAND_LOG: '' }).logLevel).toBe('info')
  })

  test('every default is a value that its setting accepts', () => {
    for (const { name, kind, default: standard } of settings) {
      const text = typeof standard === 'function' ? standard(() => 'x') : standard
      if (text !== undefined) expect([name, kind.parse(text) !== undefined]).toEqual([name, true])
    }
  })

  test('names are unique, and no other one is mentioned anywhere', () => {
    const names = settings.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    const files = ['src/**/*.{ts,tsx}', 'docs/*.md', 'docs/reference/*', 'README.md', 'deploy/**/*'].flatMap(
      pattern => [...new Glob(pattern).scanSync('.')],
    )
    const mentioned = files.flatMap(
      file => readFileSync(file, 'utf8').match(/\bSTRAND_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [],
    )
    expect([...new Set(mentioned)].filter(name => !names.includes(name))).toEqual([])
  })
})
