/** A large import and the export of it: how fast, and how much memory at most. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from '../../src/kit/random.ts'
import type { Children } from '../load/children.ts'
import { PeakMemory } from '../load/process-usage.ts'
import type { Single } from '../report/metrics.ts'

const USERS = 20_000
const GAMES = 10
const OPERATOR_TOKEN = 'the-operator-token-of-the-bench'
/** Beyond the mapped pages of the store, which the system takes back when it needs them. */
const MAX_MEGABYTES = 300

export const SECONDS_OF_IMPORT = 150

/** Writes users and what they can be granted to one file, and their entitlements to another, in the order of an export. */
async function writeLines(people: string, granted: string, entitlements: number): Promise<void> {
  const random = new SeededRandom(5)
  let out = createWriteStream(people)
  const write = async (line: object) => {
    if (!out.write(`${JSON.stringify(line)}\n`))
      await new Promise<void>(resolve => out.once('drain', resolve))
  }
  const organization_id = random.uuid()
  await write({ type: 'organization', id: organization_id, name: 'Reef Interactive' })
  for (let n = 0; n < USERS; n++) await write({ type: 'user', id: String(100_000 + n), login: `user_${n}` })
  const benefits: { benefit_id: string; game_id: string }[] = []
  for (let n = 0; n < GAMES; n++) {
    const [benefit_id, game_id] = [random.uuid(), String(500 + n)]
    benefits.push({ benefit_id, game_id })
    await write({ type: 'game', id: game_id, name: `Tidefall ${n}`, organization_id })
    await write({ type: 'benefit', id: benefit_id, name: 'Coral lantern', organization_id, game_id })
  }
  await new Promise<void>(resolve => out.end(resolve))
  out = createWriteStream(granted)
  const began = Date.parse('2026-01-01T00:00:00Z')
  for (let n = 0; n < entitlements; n++) {
    const timestamp = new Date(began + n * 1000).toISOString()
    const user_id = String(100_000 + random.between(0, USERS - 1))
    await write({ type: 'entitlement', id: random.uuid(), user_id, ...random.pick(benefits), timestamp })
  }
  await new Promise<void>(resolve => out.end(resolve))
}

/** Into an empty store by the command alone, then into another over HTTP, whose server is the one that is watched. */
export async function measureImport(
  children: Children,
  folder: (name: string) => string,
  entitlements: number,
): Promise<Single[]> {
  const [people, granted] = [join(folder('lines'), 'people.ndjson'), join(folder('lines'), 'granted.ndjson')]
  await writeLines(people, granted, entitlements)
  const here = folder('import-here')
  await children.runStrand(['migrate', '--data', here])
  await children.runStrand(['import', people, '--data', here])
  const local = await children.runStrand(['import', granted, '--data', here])
  const out = join(folder('lines'), 'out.ndjson')
  const exporting = await children.runStrand(['export', out, '--data', here])

  const secrets = { masterKeys: `bench:${'A'.repeat(43)}=`, operatorToken: OPERATOR_TOKEN }
  const server = await children.startStrand(folder('import-there'), secrets)
  const peak = new PeakMemory(server.pid)
  const importThere = (file: string) =>
    children.runStrand(['import', file, '--url', server.url], { STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN })
  await importThere(people)
  const remote = await importThere(granted)
  const serving = peak.end()
  await server.stop()

  const rate = (seconds: number) => entitlements / seconds
  return [
    { name: 'Import of entitlements, local', value: rate(local.seconds), unit: 'lines/s' },
    { name: '— CPU time', value: (local.processorSeconds / entitlements) * 1e6, unit: 'µs per line' },
    { name: '— peak private memory', value: local.peak.own, unit: 'MB', atMost: MAX_MEGABYTES },
    { name: '— peak with mapped pages of the store', value: local.peak.resident, unit: 'MB' },
    { name: 'Export', value: rate(exporting.seconds), unit: 'lines/s' },
    { name: '— peak private memory', value: exporting.peak.own, unit: 'MB', atMost: MAX_MEGABYTES },
    { name: 'Import of entitlements over HTTP', value: rate(remote.seconds), unit: 'lines/s' },
    { name: '— peak memory of the server', value: serving.own, unit: 'MB', atMost: MAX_MEGABYTES },
    { name: '— peak memory of the command', value: remote.peak.own, unit: 'MB', atMost: MAX_MEGABYTES },
  ]
}
