/** What must hold while the disk fails, as functions that give what is wrong: nothing, or the test has found something. */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Asked } from '../../rig/load/caller.ts'
import type { DiskFault } from '../support/cli/failing-disk.ts'
import { DiskTrial, HANG_MILLISECONDS, type TrialOptions } from './trial.ts'

/** How long a fault lasts at least. */
const FAULT_MILLISECONDS = 300
/** Of the server, and then for the way there and back on a busy machine. */
const DEADLINE_MILLISECONDS = 3000
const SLACK_MILLISECONDS = 4000
const PAGE_BYTES = 4096
/** How SQLite marks a page that has rows of an index. */
const INDEX_LEAF = 10

interface Strike {
  readonly fault: DiskFault
  /** Requests that must be answered 503 meanwhile; some of them at least. */
  readonly refused: Asked['work']
  /** Requests of which none may fail. */
  readonly unharmed?: Asked['work']
}

export const strikes = {
  'reads fail': { fault: { reads: 'EIO' }, refused: 'read' },
  'writes fail': { fault: { writes: 'EIO' }, refused: 'update', unharmed: 'read' },
  'fsync fails': { fault: { syncs: 'EIO' }, refused: 'update', unharmed: 'read' },
  'fsync stalls': { fault: { syncs: 'stall' }, refused: 'update', unharmed: 'read' },
  'everything fails': { fault: { reads: 'EIO', writes: 'EIO', syncs: 'EIO' }, refused: 'update' },
  'the disk is full': { fault: { writes: 'ENOSPC' }, refused: 'update', unharmed: 'read' },
} as const satisfies Record<string, Strike>

/**
 * The disk fails under load until callers and readiness have noticed, and heals. Afterwards everything works again by itself,
 * and what was acknowledged is there.
 */
export async function failAndHeal(trial: DiskTrial, strike: Strike): Promise<string[]> {
  const { fault, refused, unharmed } = strike
  trial.beginLoad()
  if (!(await trial.until(() => trial.askedSince(0, 'update').some(isOk)))) return ['nothing works']
  const began = performance.now()
  trial.disk.set(fault)
  await Bun.sleep(FAULT_MILLISECONDS)
  const isNoticed = await trial.until(
    () =>
      trial.askedSince(began, refused).some(each => each.status === 503) &&
      trial.looks.some(look => look.at >= began && !look.isReady),
  )
  const { reads, writes, syncs } = trial.disk.struck
  trial.disk.set({})
  const healed = performance.now()
  const isWellAgain = await trial.until(
    () =>
      trial.askedSince(healed, 'update').some(isOk) &&
      trial.askedSince(healed, 'read').some(isOk) &&
      trial.looks.some(look => look.at >= healed && look.isReady),
  )
  if (reads + writes + syncs === 0) return ['the fault met nothing']
  if (!isNoticed) return [`no ${refused} was refused, or /readyz did not report it`]
  if (!isWellAgain) return ['nothing works when the disk does again']
  const harmed = trial.caller.asked.filter(each => each.work === unharmed && !isOk(each)).length
  if (harmed > 0) return [`${harmed} of ${unharmed} failed, though the disk could be read`]
  const found = await trial.endLoad()
  return [...wrongAnswers(trial.caller.asked), ...found]
}

/** Something happens to the files under load: readiness notices, and no write that is sent later is acknowledged. */
export async function moveStore(trial: DiskTrial, strike: () => void): Promise<string[]> {
  trial.beginLoad()
  if (!(await trial.until(() => trial.askedSince(0, 'update').some(isOk)))) return ['nothing works']
  strike()
  const began = performance.now()
  const isNoticed = await trial.until(
    () =>
      trial.askedSince(began, 'update').length > 0 &&
      trial.looks.some(look => look.at >= began && !look.isReady),
  )
  const acknowledged = trial.askedSince(began, 'update').filter(isOk).length
  if (acknowledged > 0) return [`${acknowledged} writes were acknowledged into files without a name`]
  return isNoticed ? [] : ['/readyz did not notice']
}

/** SIGTERM while the disk fails, or waits: the process ends. */
export async function stopMeanwhile(trial: DiskTrial, fault: DiskFault): Promise<string[]> {
  trial.beginLoad()
  await trial.until(() => trial.askedSince(0, 'update').some(isOk))
  const { reads, writes, syncs } = trial.disk.struck
  const before = reads + writes + syncs
  trial.disk.set(fault)
  await trial.until(() => {
    const { reads, writes, syncs } = trial.disk.struck
    return reads + writes + syncs > before
  })
  const code = await trial.stop('SIGTERM')
  return code === undefined ? ['SIGTERM did not end the process'] : []
}

/** The file becomes shorter under a running server, and then is what it was: readers are refused meanwhile, and that is all. */
export async function cutOff(trial: DiskTrial): Promise<string[]> {
  const file = await readFromFileOnly(trial)
  const { page, ids } = pageOfFirstGroup(file, trial)
  // How large the store is, SQLite takes from the log if there is one, and then it does look behind the end of the file.
  const [id = ''] = trial.world.churning
  const token = trial.world.operatorToken
  await trial.caller.must('setting up', 'PUT', `/control/channels/${id}/stream`, { token, body: {} })
  await trial.caller.must('setting up', 'GET', '/control/games', { token })
  const whole = readFileSync(file)
  const handle = openSync(file, 'r+')
  try {
    ftruncateSync(handle, (page - 1) * PAGE_BYTES)
    const refused = await askFor(trial, ids)
    const others = await trial.caller.ask('directory', 'GET', '/helix/streams')
    writeSync(handle, whole, 0, whole.length, 0)
    const again = await askFor(trial, ids)
    const statuses = [refused, others, again].map(({ status }) => status)
    if (statuses.includes(0)) return ['the process no longer answers']
    return Bun.deepEquals(statuses, [503, 200, 200]) ? [] : [`answers were ${statuses.join(', ')}`]
  } finally {
    closeSync(handle)
  }
}

/** Stops and starts the server, so that the log is normalized into the file and nothing is in memory. */
export async function readFromFileOnly(trial: DiskTrial): Promise<string> {
  const code = await trial.stop()
  if (code !== 0) throw new Error(`the server ended with ${code}`)
  await trial.start()
  return join(trial.data, 'strand.db')
}

export const askFor = (trial: DiskTrial, ids: readonly string[]) =>
  trial.caller.ask('read', 'GET', `/helix/entitlements/drops?${ids.map(id => `id=${id}`).join('&')}`, {
    token: trial.world.appToken,
  })

/** A page of entitlements that has rows of the first group and nothing of the last one. */
export function pageOfFirstGroup(file: string, { groups }: DiskTrial): { page: number; ids: string[] } {
  const bytes = readFileSync(file)
  const [first, last] = [groups[0], groups.at(-1)]
  for (let page = 1; page <= bytes.length / PAGE_BYTES; page++) {
    const rows = rowsOnPage(bytes.subarray((page - 1) * PAGE_BYTES, page * PAGE_BYTES))
    const has = (id: string) => rows.some(row => isRowOf(row, id))
    const ids = first?.ids.filter(has) ?? []
    if (ids.length > 5 && !last?.ids.some(has)) return { page, ids }
  }
  throw new Error('the first group has no page')
}

/** The rows of a leaf of an index, which is what a table in the order of its key is. Free space has what was there once. */
function rowsOnPage(page: Buffer): string[] {
  if (page[0] !== INDEX_LEAF) return []
  return Array.from({ length: page.readUInt16BE(3) }, (_, index) => {
    const at = page.readUInt16BE(8 + 2 * index)
    // The length of a short row has one byte.
    return page.subarray(at + 1, at + 1 + (page[at] ?? 0)).toString('latin1')
  })
}

/** In the table the user follows the id, after the time of the update and the number of the benefit; in no index it does. */
function isRowOf(row: string, id: string): boolean {
  const at = row.indexOf(Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1'))
  return at >= 0 && /^.{4,16}?[0-9]{4,}/s.test(row.slice(at + 16))
}

/** Answers that no caller may get, whatever happens to the disk. */
export function wrongAnswers(asked: readonly Asked[]): string[] {
  const wrong = asked.filter(each => {
    if (each.work === 'looking' || each.work === 'setting up') return false
    const isLate = each.returned - each.invoked > DEADLINE_MILLISECONDS + SLACK_MILLISECONDS
    return isLate || !(isOk(each) || (each.status === 503 && each.retryAfter))
  })
  const [first] = wrong
  if (first === undefined) return []
  const seconds = ((first.returned - first.invoked) / 1000).toFixed(1)
  return [`${wrong.length} wrong answers, such as ${first.work} with ${first.status} after ${seconds} s`]
}

export const isOk = ({ status }: Asked): boolean => status === 200

/** Does it with a fresh server, and clears up. */
export async function onTrial<T>(
  work: (trial: DiskTrial) => Promise<T>,
  options: TrialOptions = {},
): Promise<T> {
  const trial = await DiskTrial.begin(options)
  try {
    return await work(trial)
  } finally {
    await trial.remove()
  }
}

/** For a test that tries a few things that may hang. */
export const TEST_MILLISECONDS = 8 * HANG_MILLISECONDS
