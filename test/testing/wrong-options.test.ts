/** A wrong option is refused with one sentence that names it, before anything runs. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStrand } from '../../src/testing/start-strand.ts'
import { usingBuiltChildren } from './built-children.ts'

usingBuiltChildren()

const refusalOf = async (options: object): Promise<string> => {
  const refused = await startStrand(options as never).then(
    async strand => {
      await strand.stop()
      return new Error('it started')
    },
    (error: Error) => error,
  )
  return refused.message
}

for (const [options, sentence] of [
  [[], 'startStrand: invalid options: must be an object, not []'],
  [{ prot: 1 }, 'startStrand: unknown option "prot"; must be one of port, seed'],
  [{ port: '80' }, 'startStrand: invalid port: must be an integer from 0 to 65535, not "80"'],
  [{ port: 70_000 }, 'startStrand: invalid port'],
  [{ seed: 1.5 }, 'startStrand: invalid seed'],
  [{ streams: 0 }, 'startStrand: invalid streams: must be an integer from 1 to 10000, not 0'],
  [{ clock: 'x' }, 'startStrand: invalid clock: must be a time such as 2026-03-01T12:00:00Z, not "x"'],
  [{ clock: { start: 5 } }, 'startStrand: invalid clock.start'],
  [{ clock: { start: '2026-03-01T12:00:00Z', runs: true } }, 'startStrand: clock: unknown option "runs"'],
  [{ clock: new Date(Number.NaN) }, 'startStrand: invalid clock'],
  [{ scenario: 5 }, 'startStrand: invalid scenario: must be an object or the path of a file, not 5'],
  [{ mode: 'thread' }, 'startStrand: invalid mode: must be one of process, child'],
  [{ strict: 'yes' }, 'startStrand: invalid strict'],
  [{ data: '' }, 'startStrand: invalid data'],
  [{ log: 'loud' }, 'startStrand: invalid log'],
  [
    { settings: { STRAND_RATE_APP: 5 } },
    'startStrand: invalid settings.STRAND_RATE_APP: must be a string, not 5',
  ],
  [{ startTimeout: -1 }, 'startStrand: invalid startTimeout'],
] as const)
  test(`${JSON.stringify(options)} is refused`, async () => {
    const message = await refusalOf(options)
    expect(message).toStartWith(sentence)
    expect(message).not.toContain('\n')
  })

/** Each of these starts a process. */
const IN_A_CHILD = 5

for (const mode of ['process', 'child'] as const)
  test(`what only the server can see is one sentence too, ${mode}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-wrong-'))
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const scenario = (wrong: object) => ({ mode, scenario: wrong })
    try {
      for (const [options, sentence] of [
        [
          scenario({ users: { a: { stream: { viewer_count: -1 } } } }),
          '$.users.a.stream.viewer_count must be >= 0',
        ],
        [
          scenario({ user: {} }),
          '$.user is not a field of a scenario; the fields are $schema, description, organizations',
        ],
        [
          scenario({ users: { a: { strem: {} } } }),
          '$.users.a.strem is not a field of a scenario; the fields are id, login',
        ],
        [
          scenario({ faults: [{ operation: 'GetStreams', outcome: 'slow', where: { game: 'x' } }] }),
          '$.faults[0] cannot be planned: The operation GetStreams has no parameter or field "game"',
        ],
        [
          scenario({ faults: [{ operation: 'GetStreams', outcome: 'slow', entitlement: 'x' }] }),
          '$.faults[0].entitlement is not a field of a scenario; the fields are operation, outcome, entitlement_id',
        ],
        [
          scenario({ benefits: { b: { game: 'Chess' } } }),
          '$.benefits.b.game is "Chess", but must be a name under $.games',
        ],
        [
          scenario({ benefits: { b: { organization: 'other_organization', game: 'Tidefall' } } }),
          '$.benefits.b.game is "Tidefall", which belongs to another organization',
        ],
        [
          scenario({ benefits: { b: {} }, grants: { c: { count: 5, benefit: 'b' } } }),
          '$.grants.c needs a game',
        ],
        [scenario({ grants: { c: { count: 0 } } }), '$.grants.c.count must be >= 1'],
        [scenario({ grants: { c: { count: 5, fulfilled: 6 } } }), '$.grants.c.fulfilled must be at most'],
        [scenario({ clients: { client: {} } }), '$.clients.client has the name of one of the demo'],
        [scenario({ tokens: { t: { client: 'none' } } }), '$.tokens.t.client is "none"'],
        [
          scenario({ entitlements: { e: { update_status: 'UNAUTHORIZED', benefit: 'benefit' } } }),
          '$.entitlements.e.benefit must belong to another organization',
        ],
        [
          scenario({ faults: [{ operation: 'GetStreams', outcome: 'explode' }] }),
          '$.faults[0].outcome must be one of',
        ],
        [{ mode, settings: { STRAND_NONSENSE: '1' } }, 'STRAND_NONSENSE'],
        [{ mode, settings: { STRAND_RATE_APP: 'many' } }, 'STRAND_RATE_APP'],
        [{ mode, port: other.port }, `port ${other.port} is in use`],
        [{ mode, data: join(file, 'below') }, file],
      ].slice(mode === 'child' ? -IN_A_CHILD : 0) as [object, string][]) {
        const message = await refusalOf(options)
        expect(message).toContain(sentence)
        expect(message).not.toMatch(/\n\s+at /)
      }
    } finally {
      await other.stop(true)
      rmSync(folder, { recursive: true, force: true })
    }
  })

test('a child that does not start in time is ended, and the sentence names the option', async () => {
  const message = await refusalOf({ mode: 'child', startTimeout: 1 })
  expect(message).toBe('Strand did not start within 1 ms: set startTimeout to wait longer')
})
