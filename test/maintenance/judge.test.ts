/** Every fault that `strand doctor` detects, from simulated observations. */
import { expect, test } from 'bun:test'
import { Networks } from '../../src/kit/networks.ts'
import {
  checkClock,
  checkKeyRing,
  checkLeftovers,
  checkLimits,
  checkListeners,
  checkModes,
  checkPort,
  checkPostgres,
  checkProxies,
  checkPublicUrl,
  checkSchema,
  checkSpace,
  checkStore,
  checkSync,
} from '../../src/maintenance/checks.ts'
import type { Finding, Level } from '../../src/maintenance/finding.ts'
import type { PostgresState } from '../../src/store/postgres-server.ts'

const at = (host: string, port = 8080) => ({ host, port })
const local = { listen: at('localhost'), operatorListen: undefined, publicUrl: undefined }
const namedProxies = new Networks()
namedProxies.add('10.0.0.7', 32)
const folder = { name: 'data', mode: 0o40700, owner: 7 }
const schema = { version: 5, known: 5, verdict: 'current' } as const
const store = { violations: [], schema, logBytes: 0 }
const postgres: PostgresState = {
  version: '18.1',
  isPrimary: true,
  fsync: 'on',
  synchronousCommit: 'on',
  standbysWanted: '',
  standbysConnected: 0,
  standbysInStep: 0,
  seesReplication: true,
  maxConnections: 100,
  reservedConnections: 3,
  clock: 0,
  schema,
  streamKeysByMasterKey: new Map(),
  mediaServers: [],
  reservedLogins: [],
}
const judged = (changes: Partial<PostgresState>, connections = 10) =>
  checkPostgres('db', { ...postgres, ...changes }, connections)

const cases: readonly (readonly [
  what: string,
  level: Level,
  finding: Finding | readonly Finding[],
  word: string,
])[] = [
  [
    'modes as they should be',
    'ok',
    checkModes(folder, [{ name: 'a', mode: 0o100600, owner: 7 }]),
    'only the owner',
  ],
  ['a folder that others may enter', 'warning', checkModes({ ...folder, mode: 0o40750 }, []), 'chmod 700'],
  [
    'a secret for the group',
    'problem',
    checkModes(folder, [{ name: 'a', mode: 0o100640, owner: 7 }]),
    '0640',
  ],
  [
    'a file of another user',
    'warning',
    checkModes(folder, [{ name: 'a', mode: 0o100600, owner: 0 }]),
    'chown',
  ],
  ['a backup that was interrupted', 'warning', checkLeftovers('d', ['b.tar.unfinished-12']), 'delete'],
  [
    'a restore that was interrupted',
    'warning',
    checkLeftovers('d', ['.restoring', 'strand.db']),
    '.restoring',
  ],
  ['keys that were being changed', 'warning', checkLeftovers('d', ['master-keys.changing']), 'master-keys'],
  [
    'what a restore replaced',
    'note',
    checkLeftovers('d', ['before-restore-20260301T120000Z']),
    'before-restore',
  ],
  ['much space', 'ok', checkSpace('d', 5e10, 1e11), '50,000 MB'],
  ['a twentieth of the disk', 'warning', checkSpace('d', 4e9, 1e11), '4,000 MB'],
  ['little space', 'warning', checkSpace('d', 5e8, 1e9), '500 MB'],
  ['no space', 'problem', checkSpace('d', 5e7, 1e11), '503'],
  ['a fast disk', 'ok', checkSync(0.8), '0.8 ms'],
  ['a slow disk', 'warning', checkSync(40), 'faster disk'],
  ['a whole store', 'ok', checkStore(store), 'intact'],
  ['a damaged store', 'problem', checkStore({ ...store, violations: ['page 3'] }), 'page 3'],
  ['a log that grew', 'warning', checkStore({ ...store, logBytes: 3e8 }), '300 MB'],
  ['an older schema', 'note', checkSchema({ ...schema, version: 4, verdict: 'behind' }), 'strand migrate'],
  ['a newer schema', 'problem', checkSchema({ ...schema, version: 6, verdict: 'newer' }), 'newer version'],
  ['a compatible schema', 'note', checkSchema({ ...schema, version: 6, verdict: 'compatible' }), 'schema 6'],
  ['an edited migration', 'problem', checkSchema({ ...schema, verdict: 'edited', edited: 3 }), 'migration 3'],
  ['a whole ring', 'ok', checkKeyRing(['b', 'a'], new Map([['b', 3]])), 'seals with b'],
  ['an older key in use', 'note', checkKeyRing(['b', 'a'], new Map([['a', 3]])), 'reseal'],
  ['a missing key', 'problem', checkKeyRing(['b'], new Map([['a', 3]])), '3 stream keys'],
  ['a listener on loopback', 'ok', checkListeners(local), 'localhost:8080'],
  [
    'an operator side for all',
    'warning',
    checkListeners({ ...local, operatorListen: at('0.0.0.0', 8081) }),
    '0.0.0.0:8081',
  ],
  [
    'a proxy that would publish the operator side',
    'warning',
    checkListeners({ ...local, publicUrl: 'https://api.example.org' }),
    'STRAND_OPERATOR_LISTEN',
  ],
  [
    'an https URL without a proxy that is named',
    'warning',
    checkProxies({ publicUrl: 'https://a.example', trustedProxies: new Networks() }),
    'STRAND_TRUSTED_PROXIES',
  ],
  [
    'a proxy that is not named',
    'warning',
    checkProxies({ publicUrl: undefined, trustedProxies: new Networks() }, '10.0.0.7'),
    '10.0.0.7',
  ],
  [
    'a proxy that is named',
    'ok',
    checkProxies({ publicUrl: 'https://a.example', trustedProxies: namedProxies }),
    'named',
  ],
  ['no public URL on one machine', 'ok', checkPublicUrl(local), 'not needed'],
  [
    'no public URL for others',
    'warning',
    checkPublicUrl({ ...local, listen: at('0.0.0.0') }),
    'STRAND_PUBLIC_URL',
  ],
  [
    'a public URL without TLS',
    'warning',
    checkPublicUrl({ ...local, publicUrl: 'http://a.example' }),
    'https',
  ],
  [
    'a public URL with a query',
    'problem',
    checkPublicUrl({ ...local, publicUrl: 'https://a.example/?x' }),
    'base URL',
  ],
  ['a public URL', 'ok', checkPublicUrl({ ...local, publicUrl: 'https://a.example' }), 'https://a.example'],
  ['clocks that agree', 'ok', checkClock('theirs', -1.2), 'agrees'],
  ['a clock behind', 'warning', checkClock('theirs', -12), '12.0 s behind'],
  ['a clock far ahead', 'problem', checkClock('theirs', 3600), '3600.0 s ahead'],
  ['limits that suffice', 'ok', checkLimits(65_536, 8e9), 'sufficient'],
  ['an unknown limit of open files', 'ok', checkLimits(undefined, 8e9), 'sufficient'],
  ['few open files', 'warning', checkLimits(1024, 8e9), 'LimitNOFILE'],
  ['little memory', 'warning', checkLimits(65_536, 2e8), '200 MB'],
  ['a good PostgreSQL', 'ok', judged({}), '18.1'],
  ['an old PostgreSQL', 'warning', judged({ version: '12.3' }), '12.3'],
  ['fsync off', 'problem', judged({ fsync: 'off' }), 'fsync = on'],
  ['commits that do not wait', 'problem', judged({ synchronousCommit: 'off' }), 'can be lost'],
  [
    'standbys that no commit waits for',
    'warning',
    judged({ standbysConnected: 2 }),
    'synchronous_standby_names',
  ],
  [
    'several servers and no standby',
    'warning',
    checkPostgres('db', postgres, 10, 3),
    'no standby follows the primary',
  ],
  [
    'standbys whose disk is not waited for',
    'problem',
    judged({
      standbysWanted: '*',
      standbysConnected: 1,
      standbysInStep: 1,
      synchronousCommit: 'remote_write',
    }),
    'synchronous_commit = on',
  ],
  [
    'a role that may not read the state of replication',
    'warning',
    judged({ standbysWanted: '*', standbysConnected: 1, seesReplication: false }),
    'GRANT pg_monitor',
  ],
  [
    'commits that wait for a standby that is not there',
    'problem',
    judged({ standbysWanted: '*', standbysConnected: 0 }),
    'writes get 503',
  ],
  [
    'commits that wait for no standby',
    'problem',
    judged({ standbysWanted: '*', standbysConnected: 1, standbysInStep: 1, synchronousCommit: 'local' }),
    'synchronous_commit is local',
  ],
  [
    'standbys as they should be',
    'ok',
    judged({ standbysWanted: '*', standbysConnected: 1, standbysInStep: 1 }),
    '1 synchronous standby',
  ],
  ['room for one node only', 'warning', judged({}, 49), 'max_connections'],
  ['room for two', 'ok', judged({}, 48), '2 nodes'],
  ['a port that is free', 'ok', checkPort('STRAND_LISTEN', at('localhost'), 'free'), 'is free'],
  [
    'a port that a Strand has',
    'ok',
    checkPort('STRAND_LISTEN', at('localhost'), 'strand'),
    'a Strand server is listening',
  ],
  [
    'a port that another program has',
    'problem',
    checkPort('STRAND_LISTEN', at('localhost'), 'other'),
    'port 8080 is in use',
  ],
  [
    'an address that is not ours',
    'problem',
    checkPort('STRAND_OPERATOR_LISTEN', at('192.0.2.1'), { failure: 'EADDRNOTAVAIL' }),
    'STRAND_OPERATOR_LISTEN',
  ],
  ['no standby in step', 'problem', judged({ standbysWanted: 'ANY 1 (a, b)' }), 'standby'],
  ['too many connections', 'warning', judged({}, 60), 'PgBouncer'],
]

for (const [what, level, found, word] of cases) {
  test(`${level} for ${what}`, () => {
    const findings = [found].flat()
    const fitting = findings.filter(
      each => each.level === level && `${each.message} ${each.advice}`.includes(word),
    )
    expect(fitting).toHaveLength(1)
    for (const each of findings) expect(each.advice === undefined).toBe(each.level === 'ok')
  })
}

test('several faults are reported together', () => {
  expect(judged({ fsync: 'off', synchronousCommit: 'off' })).toHaveLength(2)
  expect(checkLimits(10, 10)).toHaveLength(2)
})
