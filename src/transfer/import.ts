/**
 * Imports a file of lines into the store. Unless invalid lines are skipped, the file is read twice. The first pass checks
 * every line against its schema, the earlier lines and the store, and changes nothing; an invalid line ends the import. The
 * second pass applies the lines in order, up to ten thousand per transaction. A line that is already applied changes
 * nothing, so the same file can be imported again after a crash.
 *
 * A process that has the embedded store to itself stages new entitlements in the first pass (`store/transfer/staging.ts`). If
 * there are many, the second pass leaves them out, or is not needed, and they are added at once.
 *
 * Memory: one chunk of the file, three batches of lines, and eight bytes in a table per line (see `seen.ts`).
 */
import { passwords } from '../auth/passwords.ts'
import type { StreamKeys } from '../auth/stream-keys.ts'
import type { ImportEvent } from '../contract/control/transfer.ts'
import { TRANSFER_TYPES, type TransferLine, type TransferType } from '../contract/resources/transfer.ts'
import type { Clock } from '../kit/clock.ts'
import type { Store } from '../store/store.ts'
import type { Counts, ImportResult } from '../store/transfer/import-lines.ts'
import type { ImportLine, StoredLine } from '../store/transfer/resource.ts'
import { RESOURCES } from '../store/transfer/resources.ts'
import { linesOf, type NumberedLine } from './lines.ts'
import { LineViolation, readLine } from './read-line.ts'
import { SeenLines } from './seen.ts'
import type { Rereadable } from './spool.ts'

/**
 * The size of a transaction. Lines written one by one weigh more, and so do passwords, which take a quarter of a second
 * each: a transaction delays other writes, and the progress reported to the caller.
 */
const FULL_BATCH = { weight: 10_000, characters: 4 * 1024 * 1024 }
const ONE_BY_ONE_WEIGHT = 50
const PASSWORD_WEIGHT = 200
/** Fewer rows are written faster than indexes are rebuilt; with more, building one could take too long. */
const ADDED_AT_ONCE = { least: 50_000, most: 20_000_000 }

export interface ImportServices {
  readonly store: Store
  readonly streamKeys: StreamKeys
  readonly clock: Clock
  /** Whether no other process has the store open, as far as is known. */
  readonly isAlone?: boolean
}

export interface ImportOptions {
  /** Skip and report invalid lines instead of ending the import. */
  readonly continues: boolean
  readonly dryRun: boolean
  readonly fromLine: number
}

/** An invalid line that ended the import. */
export class WrongLine extends Error {
  override readonly name = 'WrongLine'
  readonly line: number
  readonly why: string
  /** Whether earlier lines have been applied. */
  readonly isApplied: boolean

  constructor(line: number, why: string, isApplied: boolean) {
    super(`line ${line}: ${why}`)
    this.line = line
    this.why = why
    this.isApplied = isApplied
  }
}

export type SkippedLine = Extract<ImportEvent, { skipped: unknown }>['skipped']
export type ImportSummary = Extract<ImportEvent, { summary: unknown }>['summary']

export class Import {
  readonly #file: Rereadable
  readonly #options: ImportOptions
  readonly #services: ImportServices
  readonly #began = performance.now()
  /** The number of valid lines found by the first pass. */
  #checked: number | undefined
  #lines = 0
  #staged = 0
  #firstStaged = Number.POSITIVE_INFINITY
  #lastStaged = 0
  /** The end of the last batch with a line that is not staged. */
  #lastToApply = 0
  #skipped = 0
  #counts: Partial<Record<TransferType, Counts>> = {}
  #isStopped = false
  /** Bytes read by the current pass. */
  bytesRead = 0
  /** The number of the last line that was applied. */
  lastLine: number

  constructor(file: Rereadable, options: ImportOptions, services: ImportServices) {
    this.#file = file
    this.#options = options
    this.#services = services
    this.lastLine = options.fromLine - 1
  }

  /** Whether lines are applied by now: always with `continues`, otherwise after the first pass. */
  get isApplying(): boolean {
    const { dryRun, continues } = this.#options
    return !dryRun && (continues || this.#checked !== undefined)
  }

  /** Ends the current pass after the batch in progress; the lines until then stay applied. */
  stop(): void {
    this.#isStopped = true
  }

  /** Runs the remaining passes and reports the summary. */
  async *run(): AsyncGenerator<ImportEvent> {
    const { dryRun, continues } = this.#options
    if (this.#checked === undefined && (dryRun || !continues)) yield* this.check()
    if (!dryRun && !this.#isStopped) yield* this.apply()
    yield { summary: this.summary() }
  }

  /** The first pass. Throws the first `WrongLine`, unless invalid lines are skipped. */
  async *check(): AsyncGenerator<ImportEvent> {
    const { isAlone = false, store } = this.#services
    const { dryRun, continues } = this.#options
    const isStaging = isAlone && store.engine === 'sqlite' && !dryRun && !continues
    const seen = new SeenLines()
    yield* this.#passOn(
      batch => this.#checkBatch(batch, seen, isStaging),
      async batch => (isStaging ? this.#stage(batch) : batch),
      { ahead: isStaging ? 1 : 0 },
    )
    if (!this.#isStopped) this.#checked = this.#lines
  }

  /** The second pass, or the only one if invalid lines are skipped. */
  async *apply(): AsyncGenerator<ImportEvent> {
    const { store } = this.#services
    const { least, most } = ADDED_AT_ONCE
    const addsAtOnce =
      this.#staged >= least &&
      this.#staged <= most &&
      (await store.transfer.hasFewerEntitlements(this.#staged))
    const seen = this.#options.continues ? new SeenLines() : undefined
    this.#lines = 0
    yield* this.#passOn(
      async batch => seen && this.#checkBatch(batch, seen),
      batch => this.#apply(batch, addsAtOnce),
      { ahead: 1, ...(addsAtOnce && { lastLine: this.#lastToApply }) },
    )
    if (addsAtOnce && !this.#isStopped) yield* this.#addStaged()
  }

  async *#addStaged(): AsyncGenerator<ImportEvent> {
    const { commands } = this.#services.store
    const entitlement = await commands.addStagedEntitlements({})
    this.#counts = sumOf(this.#counts, { entitlement })
    this.lastLine = Math.max(this.lastLine, this.#lastStaged)
    while ((await commands.restoreIndex({})) > 0);
    this.#lines = this.#checked ?? 0
    yield { progress: { lines: this.#lines, of: this.#lines } }
  }

  /** Batches are read and checked while the store works on up to `ahead` earlier ones. */
  async *#passOn(
    check: (batch: Batch) => Promise<unknown>,
    pass: (batch: Batch) => Promise<Batch>,
    { ahead, lastLine }: { readonly ahead: number; readonly lastLine?: number },
  ): AsyncGenerator<ImportEvent> {
    const pending: Promise<Batch>[] = []
    for await (const batch of this.#batches(lastLine)) {
      await check(batch)
      // Wrong lines are reported in order.
      const isInterrupted = this.#isStopped || batch.wrong.length > 0
      yield* this.#finishFirst(pending, isInterrupted ? 0 : ahead - 1)
      if (this.#isStopped) return
      yield* this.#skip(batch)
      const passed = pass(batch)
      // A failure is thrown where it is awaited later.
      passed.catch(() => undefined)
      pending.push(passed)
      yield* this.#finishFirst(pending, ahead)
    }
    yield* this.#finishFirst(pending, 0)
  }

  async *#finishFirst(pending: Promise<Batch>[], left: number): AsyncGenerator<ImportEvent> {
    while (pending.length > Math.max(left, 0))
      for (const first of pending.splice(0, 1)) yield* this.#finish(await first)
  }

  summary(): ImportSummary {
    const seconds = (performance.now() - this.#began) / 1000
    const lines = this.#lines + this.#skipped
    return {
      lines,
      skipped: this.#skipped,
      types: this.#counts,
      dry_run: this.#options.dryRun,
      seconds: Math.round(seconds * 1000) / 1000,
      lines_per_second: Math.round(lines / Math.max(seconds, 0.001)),
    }
  }

  /** Marks the lines of a batch that conflict with the store or earlier lines as wrong. */
  async #checkBatch(batch: Batch, seen: SeenLines, isStaging = false): Promise<void> {
    const lines = batch.good.map(({ line }) => line)
    batch.refuse(await this.#services.store.transfer.check(lines, seen, { isStaging }))
  }

  async #stage(batch: Batch): Promise<Batch> {
    const entitlements = batch.good.flatMap(({ line, number }, index) =>
      line.type === 'entitlement' ? [{ line, number, index }] : [],
    )
    const lines = entitlements.map(({ line }) => line)
    const { refused, staged } = await this.#services.store.commands.stageEntitlements({ lines })
    this.#staged += staged
    this.#firstStaged = Math.min(this.#firstStaged, entitlements[0]?.number ?? Number.POSITIVE_INFINITY)
    this.#lastStaged = batch.good.at(-1)?.number ?? 0
    if (staged < batch.good.length) this.#lastToApply = this.#lastStaged
    batch.refuse(new Map(refused.map(([place, why]) => [entitlements[place]?.index ?? 0, why])))
    return batch
  }

  async #apply(batch: Batch, leavesStaged: boolean): Promise<Batch> {
    const { store, clock } = this.#services
    const lines = await prepared(batch.good, this.#services)
    const now = clock.now()
    const { counts, refused } = await store.commands.importLines({ lines, now, leavesStaged })
    this.#counts = sumOf(this.#counts, counts)
    const last = batch.good.at(-1)?.number ?? 0
    // An interrupted import is resumed after this line, so the staged ones come after it.
    this.lastLine = Math.max(this.lastLine, leavesStaged ? Math.min(last, this.#firstStaged - 1) : last)
    batch.refuse(new Map(refused))
    return batch
  }

  *#finish(batch: Batch): Generator<ImportEvent> {
    yield* this.#skip(batch)
    this.#lines += batch.good.length
    const lines = this.#lines + this.#skipped
    yield { progress: { lines, ...(this.#checked !== undefined && { of: this.#checked }) } }
  }

  /** Reports the wrong lines of a batch, or ends the import with the first. */
  *#skip(batch: Batch): Generator<ImportEvent> {
    for (const skipped of batch.wrong.splice(0)) {
      if (!this.#options.continues)
        throw new WrongLine(skipped.line, skipped.message, this.#checked !== undefined)
      this.#skipped += 1
      yield { skipped }
    }
  }

  async *#batches(lastLine = Number.POSITIVE_INFINITY): AsyncGenerator<Batch> {
    if (lastLine < 1) return
    const { fromLine } = this.#options
    let batch = new Batch()
    let last = 0
    for await (const lines of linesOf(this.#pieces())) {
      for (const line of lines) {
        last = line.number
        if (last < fromLine) continue
        batch.add(line)
        if (!batch.isFull && last < lastLine) continue
        yield batch
        if (last >= lastLine) return
        batch = new Batch()
      }
      // Report an invalid line before the rest of the file has arrived.
      if (batch.wrong.length === 0) continue
      yield batch
      batch = new Batch()
    }
    if (batch.good.length > 0) yield batch
    // This is probably not the intended file.
    if (fromLine > 1 && last < fromLine)
      throw new WrongLine(fromLine, `there is no such line, the last is ${last}`, false)
  }

  async *#pieces(): AsyncGenerator<Uint8Array> {
    this.bytesRead = 0
    for await (const piece of this.#file.read()) {
      this.bytesRead += piece.length
      yield piece
    }
  }
}

/** Adds two counts, by type in the order of an export. */
function sumOf(a: ImportResult['counts'], b: ImportResult['counts']): ImportResult['counts'] {
  const none = { created: 0, changed: 0, unchanged: 0 }
  const sums = TRANSFER_TYPES.filter(type => a[type] ?? b[type]).map(type => {
    const [one, two] = [a[type] ?? none, b[type] ?? none]
    const sum: Counts = {
      created: one.created + two.created,
      changed: one.changed + two.changed,
      unchanged: one.unchanged + two.unchanged,
    }
    return [type, sum]
  })
  return Object.fromEntries(sums)
}

/** Lines that are checked and applied together. */
class Batch {
  good: { readonly number: number; readonly line: TransferLine }[] = []
  readonly wrong: SkippedLine[] = []
  #weight = 0
  #characters = 0

  get isFull(): boolean {
    return this.#weight >= FULL_BATCH.weight || this.#characters >= FULL_BATCH.characters
  }

  add({ number, text, violation = '' }: NumberedLine): void {
    if (text === undefined) return void this.wrong.push({ line: number, message: violation })
    try {
      const line = readLine(text)
      this.good.push({ number, line })
      this.#weight += RESOURCES[line.type].putEach === undefined ? 1 : ONE_BY_ONE_WEIGHT
      if ('password' in line) this.#weight += PASSWORD_WEIGHT
      this.#characters += text.length
    } catch (error) {
      if (!(error instanceof LineViolation)) throw error
      this.wrong.push({ line: number, message: error.message })
    }
  }

  /** Marks good lines as wrong, by index. */
  refuse(refusals: ReadonlyMap<number, string>): void {
    if (refusals.size === 0) return
    for (const [index, { number }] of this.good.entries()) {
      const message = refusals.get(index)
      if (message !== undefined) this.wrong.push({ line: number, message })
    }
    this.good = this.good.filter((_, index) => !refusals.has(index))
    this.wrong.sort((a, b) => a.line - b.line)
  }
}

/** Prepares lines for the store: seals or hashes secrets. */
async function prepared(good: Batch['good'], services: ImportServices): Promise<ImportLine[]> {
  const users = good.flatMap(({ line }) => (line.type === 'user' ? [line] : []))
  const withSecrets = users.filter(user => user.password !== undefined || user.stream_key !== undefined)
  const rows = withSecrets.length === 0 ? new Map() : await services.store.transfer.users(withSecrets)
  const lines: ImportLine[] = []
  for (const { line } of good) {
    if (line.type === 'user') lines.push(await prepareUser(line, rows.get(line.id), services))
    else if (line.type === 'stream_key') lines.push(prepareExtraKey(line, services))
    else lines.push(line)
  }
  return lines
}

function prepareExtraKey(
  { stream_key, ...line }: TransferLine<'stream_key'>,
  { streamKeys }: ImportServices,
): ImportLine {
  const { stored } = streamKeys.mint(line.user_id, line.name, stream_key?.split('_')[2])
  return {
    ...line,
    stored,
    ...(stream_key !== undefined && { lookup_hashes: streamKeys.lookupHashes(stream_key) }),
  }
}

async function prepareUser(
  { password, stream_key, ...line }: TransferLine<'user'>,
  row: StoredLine<'user'> | undefined,
  { streamKeys }: ImportServices,
): Promise<ImportLine> {
  const random = stream_key?.split('_')[2]
  const first_key = streamKeys.mint(line.id, 1, random).stored
  const isOther =
    row !== undefined && stream_key !== undefined && streamKeys.open(line.id, row) !== stream_key
  const version = (row?.slot ?? 0) + 1
  const password_hash = line.password_hash ?? (await hashOf(password, row?.password_hash))
  return {
    ...line,
    ...(password_hash !== undefined && { password_hash }),
    first_key,
    ...(isOther && { next_key: { version, stored: streamKeys.mint(line.id, version, random).stored } }),
  }
}

/** The hash of a password: the stored one if it matches, so that nothing changes. Waits in the queue without a limit. */
async function hashOf(password: string | undefined, stored: string | undefined): Promise<string | undefined> {
  if (password === undefined) return undefined
  return passwords.inTurn(
    { lane: 'operator' },
    async turn => (stored && (await turn.matches(password, stored)) ? stored : turn.hash(password)),
    { maxWaitMilliseconds: Number.POSITIVE_INFINITY },
  )
}
