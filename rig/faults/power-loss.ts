/**
 * F2, F3. A server on the embedded store runs under `power/recorder.c` while a client keeps an acknowledgement journal. The
 * recording is replayed into hundreds of disk images as a power loss can leave them. In each, no acknowledged write may be
 * missing, no batch half applied, and the store must verify.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseMasterKeys } from '../../src/kit/crypto/key-ring.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { STORE_FILE } from '../../src/maintenance/manifest.ts'
import { freePort } from '../../test/support/store/postgres.ts'
import { compilePreload, NoPreload } from '../../tools/preload.ts'
import { StrandNode } from '../cluster/strand-node.ts'
import { Caller } from '../load/caller.ts'
import { crashPoints } from '../power/crash-points.ts'
import { Disk, FATES, type Fate } from '../power/disk.ts'
import { type Examination, type Expected, examine, writeImage } from '../power/examine.ts'
import { Journal } from '../power/journal.ts'
import { MixedWrites, SPLIT_GROUP } from '../power/mixed-writes.ts'
import { type DiskEvent, parseRecording } from '../power/recording.ts'
import { makeWorld } from '../world.ts'
import type { Finding, Pace, Site, Trial } from './fault.ts'
import { atMost, noted, shown } from './findings.ts'

const STREAMS = 20
/** Per server lifetime: enough for a checkpoint of the write-ahead log while it serves. */
const LOAD_ROUNDS = 2
const IMAGES_A_ROUND = 100
const RECORDER = join(import.meta.dirname, '..', 'power', 'recorder.c')

export const powerLoss: Trial = {
  name: 'power-loss',
  what: 'writes and syncs of an embedded store are recorded and replayed into disk images after a power loss',
  seconds: pace => 12 + imagesOf(pace) / 12,
  run: async site => {
    const recorded = await record(site).catch(unrecorded)
    if (!('events' in recorded)) return [recorded]
    const seen = await replay(recorded, imagesOf(site.pace), site)
    return [
      ...recordingFindings(recorded),
      ...lossFindings(seen),
      await restartFinding(recorded, site),
      ...(await plantedFindings(recorded, seen, site)),
    ]
  },
}

const imagesOf = (pace: Pace) => pace.rounds * IMAGES_A_ROUND

/** A goal that could not be checked has not held. */
function unrecorded(error: unknown): Finding {
  if (!(error instanceof NoPreload)) throw error
  return {
    asked: 'a recording of the disk',
    measured: `none: ${error.message}`,
    goal: 'made',
    verdict: 'broken',
  }
}

interface Recorded {
  readonly events: readonly DiskEvent[]
  readonly expected: Expected
  readonly acknowledged: number
  readonly settings: Readonly<Record<string, string>>
  /** Files whose content differs from a full replay. */
  readonly unlike: readonly string[]
}

/** Records two server lifetimes, so that the removal and creation of the write-ahead log are among the events. */
async function record({ folder: given, lifetime }: Site): Promise<Recorded> {
  const folder = join(realpathSync(given), 'power-loss')
  mkdirSync(folder)
  const log = join(folder, 'recording')
  const masterKeysText = `rig:${randomBytes(32).toString('base64')}`
  const masterKeys = parseMasterKeys(masterKeysText) ?? []
  const operatorToken = randomBytes(20).toString('hex')
  const settings = {
    STRAND_OPERATOR_TOKEN: operatorToken,
    STRAND_MASTER_KEYS: masterKeysText,
    STRAND_RATE_APP: '0',
    STRAND_RATE_USER: '0',
    STRAND_RATE_ANONYMOUS: '0',
    STRAND_DRAIN_SECONDS: '0',
    STRAND_LOG: 'info',
  }
  const node = new StrandNode('recorded', await freePort(), folder, {
    ...settings,
    LD_PRELOAD: await compilePreload(RECORDER, folder),
    RECORDER_FOLDER: join(folder, 'recorded'),
    RECORDER_LOG: log,
  })
  lifetime.onClose(() => node.kill())
  await node.start()
  const caller = new Caller(node.url)
  const world = await makeWorld(caller, node.url, operatorToken, STREAMS)
  const journal = new Journal(() => statSync(log).size)
  const writes = new MixedWrites(caller, world, journal)
  await writes.begin()
  for (let round = 0; round < LOAD_ROUNDS; round++) await writes.round()
  await node.stop()
  await node.start()
  for (let round = 0; round < LOAD_ROUNDS; round++) await writes.round()
  await node.stop()
  const events = parseRecording(readFileSync(log))
  return {
    events,
    expected: { registers: journal.registers, subjects: writes.subjects, masterKeys },
    acknowledged: journal.acknowledged,
    settings,
    unlike: unlikeTheRecording(events, join(folder, 'recorded')),
  }
}

/** Detects calls that the recorder does not intercept. */
function unlikeTheRecording(events: readonly DiskEvent[], folder: string): string[] {
  const disk = new Disk(events)
  disk.advance(events.length)
  const image = disk.image('everything kept', new SeededRandom(0))
  const names = new Set([...readdirSync(folder), ...image.keys()].filter(name => !name.endsWith('-shm')))
  return [...names].filter(name => {
    const bytes = image.get(name)
    const real = statSync(join(folder, name), { throwIfNoEntry: false })
    return bytes === undefined || real === undefined || !readFileSync(join(folder, name)).equals(bytes)
  })
}

/** The result of one crash point. */
interface Seen extends Examination {
  readonly point: number
  readonly fate: Fate
}

/** Builds and examines an image for each crash point, until `enough`. */
async function replay(
  { events, expected }: Pick<Recorded, 'events' | 'expected'>,
  images: number,
  { folder, pace }: Site,
  enough: (seen: Seen) => boolean = () => false,
): Promise<Seen[]> {
  const random = new SeededRandom(pace.seed)
  const disk = new Disk(events)
  const seen: Seen[] = []
  const place = join(folder, 'power-loss', 'image')
  for (const [index, point] of crashPoints(events, images, random).entries()) {
    disk.advance(point)
    const fate = FATES[index % FATES.length] ?? 'nothing kept'
    writeImage(place, disk.image(fate, random))
    const found = { point, fate, ...(await examine(place, expected, events[point - 1]?.at ?? 0)) }
    seen.push(found)
    if (enough(found)) break
  }
  return seen
}

function recordingFindings({ events, acknowledged, unlike }: Recorded): Finding[] {
  const count = (kind: DiskEvent['kind']) => events.filter(each => each.kind === kind).length
  const normalized = events.length - withoutSyncs(events, STORE_FILE).length
  return [
    noted(
      'recorded',
      `${shown(acknowledged)} acknowledged writes; ${shown(count('write'))} writes to files, ${shown(count('sync'))} syncs, ${shown(normalized)} of them of the database file`,
    ),
    {
      ...atMost('files that differ from a full replay of the recording', unlike.length, 0),
      measured: unlike.length === 0 ? '0' : unlike.join(', '),
    },
  ]
}

function lossFindings(seen: readonly Seen[]): Finding[] {
  const of = (pick: (each: Seen) => readonly string[]) => seen.filter(each => pick(each).length > 0)
  const finding = (asked: string, bad: readonly Seen[], name: (each: Seen) => readonly string[]): Finding => {
    const [first] = bad
    const where =
      first && ` (first: ${name(first).slice(0, 3).join(', ')}, after event ${first.point}, ${first.fate})`
    return {
      asked,
      measured: `${bad.length} of ${shown(seen.length)}${where ?? ''}`,
      goal: '0',
      verdict: bad.length === 0 ? 'held' : 'broken',
    }
  }
  return [
    finding('disk images in which an acknowledged write is lost', of(lostOf), lostOf),
    finding('disk images in which a batch is half applied', of(halfOf), halfOf),
    finding(
      'disk images that fail strand verify: integrity, references, stream keys, audit chain',
      of(each => each.damage),
      each => each.damage,
    ),
  ]
}

const lostOf = (each: Seen) => each.lost.filter(key => key !== SPLIT_GROUP)
const halfOf = (each: Seen) => each.halfApplied.filter(key => key !== SPLIT_GROUP)

/** Verification only reads; a real server also has to recover the store and write to it. */
async function restartFinding(
  { events, settings, expected }: Recorded,
  { folder, lifetime, pace }: Site,
): Promise<Finding> {
  const random = new SeededRandom(pace.seed + 1)
  const restarts = pace.name === 'quick' ? 2 : 5
  const disk = new Disk(events)
  let started = 0
  for (const [index, point] of crashPoints(events, restarts, random).entries()) {
    disk.advance(point)
    const place = join(folder, 'power-loss', `restarted-${index}`)
    writeImage(place, disk.image('each sector from another time', random))
    const node = new StrandNode(`restarted-${index}`, await freePort(), join(folder, 'power-loss'), settings)
    lifetime.onClose(() => node.kill())
    await node.start()
    const caller = new Caller(node.url)
    await caller.must('setting up', 'POST', '/control/organizations', {
      token: settings.STRAND_OPERATOR_TOKEN ?? '',
      body: { name: 'Kelp Works' },
    })
    await node.stop()
    const after = await examine(place, expected, events[point - 1]?.at ?? 0)
    if (lostOf({ ...after, point, fate: 'nothing kept' }).length + after.damage.length === 0) started += 1
  }
  return {
    asked: 'servers that start on a disk image, write, and lose nothing',
    measured: `${started} of ${restarts}`,
    goal: 'all',
    verdict: started === restarts ? 'held' : 'broken',
  }
}

/** Proves that the replay is not blind: each planted bug must be detected. */
async function plantedFindings(recorded: Recorded, seen: readonly Seen[], site: Site): Promise<Finding[]> {
  const { events, expected } = recorded
  const images = imagesOf(site.pace)
  const without = (name: string) => ({ events: withoutSyncs(events, name), expected })
  const lost = await replay(without(`${STORE_FILE}-wal`), images, site, each => lostOf(each).length > 0)
  const damaged = await replay(without(STORE_FILE), images, site, each => each.damage.length > 0)
  const torn = seen.filter(each => each.halfApplied.includes(SPLIT_GROUP)).length
  const caught = (found: readonly Seen[], isBad: boolean) =>
    isBad ? `detected in image ${found.length}` : `not detected in ${found.length} images`
  const planted = (what: string, measured: string, isSeen: boolean): Finding => ({
    asked: `planted: ${what}`,
    measured,
    goal: 'detected',
    verdict: isSeen ? 'held' : 'broken',
  })
  const isLost = lost.some(each => lostOf(each).length > 0)
  const isDamaged = damaged.some(each => each.damage.length > 0)
  return [
    planted(
      'the write-ahead log is not synced before the response (synchronous = normal); acknowledged writes are lost',
      caught(lost, isLost),
      isLost,
    ),
    planted('the database file is never synced; the store is damaged', caught(damaged, isDamaged), isDamaged),
    planted(
      'a batch is written in two transactions; it is half applied',
      `detected in ${torn} of ${seen.length} images`,
      torn > 0,
    ),
  ]
}

/** The recording of a server that never syncs this file. */
function withoutSyncs(events: readonly DiskEvent[], name: string): DiskEvent[] {
  const files = new Set<number>()
  for (const event of events) if (event.kind === 'create' && event.name === name) files.add(event.file)
  return events.filter(each => each.kind !== 'sync' || each.of === 'folder' || !files.has(each.of))
}
