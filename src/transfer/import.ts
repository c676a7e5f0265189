/**
 * Imports a file of JSON lines into the store.
 *
 * A file may have millions of lines and one mistake at its end. Applying lines until the mistake would leave half a world;
 * one transaction for all lines would block every other write for minutes. So the file is read twice. The first pass checks
 * every line against its schema, the earlier lines and the store, and changes nothing. The second pass applies the lines in
 * order, in batches, each of which is a transaction. It checks them once more, because other processes may write meanwhile;
 * a line that has become invalid ends the import there, with the earlier lines applied.
 *
 *     first pass   read --> check --> ... end of file --.        an invalid line ends the import, nothing has changed
 *     second pass  read --> apply --> ... end of file --'--> summary
 *
 * | Option | First pass | Second pass |
 * |---|---|---|
 * | default | checks | applies |
 * | `dryRun` | checks | none |
 * | `continues` (invalid lines are skipped and reported) | none | checks and applies each batch |
 * | `dryRun` and `continues` | checks and reports | none |
 *
 * A large file consists mostly of entitlements, and updating the indexes for each of them is slow. If this process has an
 * embedded store to itself, the first pass also stages new entitlements in a temporary table (`store/transfer/staging.ts`).
 * If there are at least 50,000, and more than the store has, the second pass leaves them out and reads only as far as there
 * are other lines. Then one transaction adds all staged rows, and the indexes are built from the complete table.
 *
 * What must hold:
 * - A line that is already applied changes nothing, so the same file can be imported again after a crash. `fromLine` only
 *   saves time.
 * - All lines up to `lastLine` are applied. While staged entitlements wait, it stays before the first of them.
 * - A line may refer to earlier lines of the file, or to the store, never to later lines.
 * - Invalid lines are reported in the order of the file.
 * - While the store applies a batch, the next one is read and checked, but no more: memory holds one chunk of the file,
 *   three batches of lines, and eight bytes in a table for each line (`seen.ts`).
 */
import type { ImportEvent } from '../contract/control/transfer.ts'
import { TRANSFER_TYPES, type TransferLine, type TransferType } from '../contract/resources/transfer.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { Counts, ImportResult } from '../store/transfer/import-lines.ts'
import { LINE_TYPES } from '../store/transfer/line-types.ts'
import { linesOf, type NumberedLine } from './lines.ts'
import { type PrepareServices, prepareLines } from './prepare-lines.ts'
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
const BULK_INSERT_LINES = { least: 50_000, most: 20_000_000 }

export interface ImportServices extends PrepareServices {
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
  readonly #isStaging: boolean
  #lines = 0
  #skipped = 0
  /** The number of staged entitlements, the line of the first one, the end of the last batch with other lines, and of the last batch. */
  readonly #staged = { count: 0, firstLine: Number.POSITIVE_INFINITY, lastOther: 0, end: 0 }
  readonly #counts: Partial<Record<TransferType, Counts>> = {}
  #isStopped = false
  /** Bytes read by the current pass. */
  bytesRead = 0
  /** The number of the last line up to which all were applied. */
  lastLine: number

  constructor(file: Rereadable, options: ImportOptions, services: ImportServices) {
    this.#file = file
    this.#options = options
    this.#services = services
    const { isAlone = false, store } = services
    this.#isStaging = isAlone && store.engine === 'sqlite' && !options.dryRun && !options.continues
    this.lastLine = options.fromLine - 1
  }

  /** The size of the file in bytes, if known. */
  get size(): number | undefined {
    return this.#file.size
  }

  /** Whether lines are applied by now: always with `continues`, otherwise after the first pass. */
  get isApplying(): boolean {
    const { dryRun, continues } = this.#options
    return !dryRun && (continues || this.#checked !== undefined)
  }

  /** Whether anything in the store is different by now. */
  get hasChanged(): boolean {
    return Object.values(this.#counts).some(({ created, changed }) => created + changed > 0)
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
    yield* this.#pass(new SeenLines(), this.#isStaging ? batch => this.#stage(batch) : undefined)
    if (!this.#isStopped) this.#checked = this.#lines
  }

  /** The second pass, or the only one if invalid lines are skipped. */
  async *apply(): AsyncGenerator<ImportEvent> {
    const { commands, transfer } = this.#services.store
    const { count, lastOther, end } = this.#staged
    const isMany = count >= BULK_INSERT_LINES.least && count <= BULK_INSERT_LINES.most
    const addsAtOnce = isMany && (await transfer.hasFewerEntitlements(count))
    this.#lines = 0
    const seen = this.#options.continues ? new SeenLines() : undefined
    yield* this.#pass(seen, batch => this.#apply(batch, addsAtOnce), addsAtOnce ? lastOther : undefined)
    if (!addsAtOnce || this.#isStopped) return
    this.#count({ entitlement: await commands.addStagedEntitlements({ count }) })
    this.lastLine = Math.max(this.lastLine, end)
    while ((await commands.restoreIndex({})) > 0);
    this.#lines = this.#checked ?? 0
    yield { progress: { lines: this.#lines, of: this.#lines } }
  }

  /** Reads the file once. With `seen`, checks each batch; with `work`, applies or stages it while the next one is read. */
  async *#pass(
    seen: SeenLines | undefined,
    work: ((batch: Batch) => Promise<Batch>) | undefined,
    lastLine?: number,
  ): AsyncGenerator<ImportEvent> {
    const { transfer } = this.#services.store
    let working: Promise<Batch> | undefined
    for await (const batch of this.#batches(lastLine)) {
      if (seen !== undefined)
        batch.refuse(await transfer.check(batch.lines, seen, { stagesEntitlements: this.#isStaging }))
      // Wrong lines are reported in order.
      if (working !== undefined) yield* this.#finish(await working)
      if (this.#isStopped) return
      yield* this.#skip(batch)
      working = work?.(batch)
      // A failure is thrown where it is awaited later.
      working?.catch(() => undefined)
      if (working === undefined) yield* this.#finish(batch)
    }
    if (working !== undefined) yield* this.#finish(await working)
  }

  summary(): ImportSummary {
    const seconds = (performance.now() - this.#began) / 1000
    const lines = this.#lines + this.#skipped
    const types = TRANSFER_TYPES.filter(type => this.#counts[type]).map(type => [type, this.#counts[type]])
    return {
      lines,
      skipped: this.#skipped,
      types: Object.fromEntries(types),
      dry_run: this.#options.dryRun,
      seconds: Math.round(seconds * 1000) / 1000,
      lines_per_second: Math.round(lines / Math.max(seconds, 0.001)),
    }
  }

  #count(counts: ImportResult['counts']): void {
    for (const [type, more] of Object.entries(counts) as [TransferType, Counts][]) {
      const sum = this.#counts[type] ?? { created: 0, changed: 0, unchanged: 0 }
      for (const outcome of ['created', 'changed', 'unchanged'] as const) sum[outcome] += more[outcome]
      this.#counts[type] = sum
    }
  }

  async #stage(batch: Batch): Promise<Batch> {
    const { lines, numbers, end } = batch
    const { refused, staged } = await this.#services.store.commands.stageEntitlements({ lines })
    const first = numbers[lines.findIndex(line => line.type === 'entitlement')]
    this.#staged.count += staged
    this.#staged.firstLine = Math.min(this.#staged.firstLine, first ?? Number.POSITIVE_INFINITY)
    if (staged < lines.length) this.#staged.lastOther = end
    this.#staged.end = end
    batch.refuse(refused)
    return batch
  }

  async #apply(batch: Batch, leavesStaged: boolean): Promise<Batch> {
    const { store, clock } = this.#services
    const lines = await prepareLines(batch.lines, this.#services)
    const { counts, refused } = await store.commands.importLines({ lines, now: clock.now(), leavesStaged })
    this.#count(counts)
    // An interrupted import is resumed after this line, so the staged ones come after it.
    const end = leavesStaged ? Math.min(batch.end, this.#staged.firstLine - 1) : batch.end
    this.lastLine = Math.max(this.lastLine, end)
    batch.refuse(refused)
    return batch
  }

  *#finish(batch: Batch): Generator<ImportEvent> {
    yield* this.#skip(batch)
    this.#lines += batch.lines.length
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
    if (batch.lines.length > 0) yield batch
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

/** Lines that are checked and applied together. */
class Batch {
  lines: TransferLine[] = []
  numbers: number[] = []
  readonly wrong: SkippedLine[] = []
  #weight = 0
  #characters = 0

  get isFull(): boolean {
    return this.#weight >= FULL_BATCH.weight || this.#characters >= FULL_BATCH.characters
  }

  /** The number of its last line. */
  get end(): number {
    return this.numbers.at(-1) ?? 0
  }

  add({ number, text, violation = '' }: NumberedLine): void {
    if (text === undefined) return void this.wrong.push({ line: number, message: violation })
    try {
      const line = readLine(text)
      this.lines.push(line)
      this.numbers.push(number)
      this.#weight += LINE_TYPES[line.type].writes === 'rows' ? 1 : ONE_BY_ONE_WEIGHT
      if ('password' in line) this.#weight += PASSWORD_WEIGHT
      this.#characters += text.length
    } catch (error) {
      if (!(error instanceof LineViolation)) throw error
      this.wrong.push({ line: number, message: error.message })
    }
  }

  /** Marks lines as wrong, by index. */
  refuse(refused: Iterable<readonly [index: number, why: string]>): void {
    const reasons = new Map(refused)
    if (reasons.size === 0) return
    for (const [index, message] of reasons) this.wrong.push({ line: this.numbers[index] ?? 0, message })
    this.wrong.sort((a, b) => a.line - b.line)
    this.lines = this.lines.filter((_, index) => !reasons.has(index))
    this.numbers = this.numbers.filter((_, index) => !reasons.has(index))
  }
}
