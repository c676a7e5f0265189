/**
 * An import: a file of lines into the store. Unless wrong lines are to be left out, it is read twice. The first reading
 * checks every line against its declaration, the lines before it and the store, and changes nothing: a line that is
 * wrong ends it. The second reading applies the lines in their order, up to two thousand to a transaction. Each is an
 * upsert, or makes what is there already no different, so the same file can be read again after a crash.
 *
 * Memory: one piece of the file, a batch of lines, and eight bytes in a table for each line (see `seen.ts`).
 */
import { passwords } from '../auth/passwords.ts'
import type { StreamKeys } from '../auth/stream-keys.ts'
import type { TransferLine, TransferType } from '../contract/resources/transfer.ts'
import type { Clock } from '../kit/clock.ts'
import {
  addCounts,
  type Counts,
  type ImportLine,
  type ImportResult,
  runsOf,
} from '../store/commands/import.ts'
import type { StoredSecrets } from '../store/queries/transfer.ts'
import type { Store } from '../store/store.ts'
import { LineCheck } from './check.ts'
import { linesOf, type NumberedLine } from './lines.ts'
import { LineViolation, readLine } from './read-line.ts'
import type { Rereadable } from './spool.ts'

/**
 * How much goes into one transaction. Types that are applied line by line, and passwords, which take a quarter of a second
 * each, count for more: others wait for what a transaction holds, and whoever asked waits for news of it.
 */
const FULL_BATCH = { weight: 2000, characters: 4 * 1024 * 1024 }
const WEIGHTS: Readonly<Record<TransferType, number>> = {
  organization: 10,
  user: 10,
  member: 1,
  game: 10,
  benefit: 10,
  client: 10,
  channel: 10,
  editor: 1,
  follow: 1,
  video: 1,
  stream: 10,
  marker: 1,
  entitlement: 1,
}
const PASSWORD_WEIGHT = 40

export interface ImportServices {
  readonly store: Store
  readonly streamKeys: StreamKeys
  readonly clock: Clock
}

export interface ImportOptions {
  /** Wrong lines are left out and told, instead of ending it. */
  readonly goesOn: boolean
  readonly dryRun: boolean
  readonly fromLine: number
}

/** A line that cannot be. */
export class WrongLine extends Error {
  override readonly name = 'WrongLine'
  readonly line: number
  readonly why: string
  /** Whether lines before it have been applied. */
  readonly isApplied: boolean

  constructor(line: number, why: string, isApplied: boolean) {
    super(`line ${line}: ${why}`)
    this.line = line
    this.why = why
    this.isApplied = isApplied
  }
}

export interface ImportSummary {
  readonly lines: number
  readonly skipped: number
  readonly types: Partial<Record<TransferType, Counts>>
  readonly dry_run: boolean
  readonly seconds: number
  readonly lines_per_second: number
}

/** What is told on the way. */
export type ImportNews =
  | { readonly progress: { readonly lines: number; readonly bytes: number; readonly of?: number } }
  | { readonly skipped: { readonly line: number; readonly message: string } }
  | { readonly summary: ImportSummary }

interface GoodLine {
  readonly number: number
  readonly line: TransferLine
}

interface Batch {
  readonly good: readonly GoodLine[]
  readonly wrong: readonly { readonly number: number; readonly why: string }[]
  /** How much of the file has been read with it. */
  readonly bytes: number
}

export class Import {
  readonly #file: Rereadable
  readonly #options: ImportOptions
  readonly #services: ImportServices
  readonly #began = performance.now()
  #checked: number | undefined
  #lines = 0
  #skipped = 0
  #counts: ImportResult['counts'] = {}

  constructor(file: Rereadable, options: ImportOptions, services: ImportServices) {
    this.#file = file
    this.#options = options
    this.#services = services
  }

  /** Reads the file for the first time. Throws the first `WrongLine`, or tells each if it is to go on. */
  async *check(): AsyncGenerator<ImportNews> {
    const check = new LineCheck(this.#services.store)
    this.#lines = 0
    for await (const batch of this.#batches()) {
      const { good, wrong } = await this.#sift(batch, check)
      yield* this.#skip(wrong)
      this.#lines += good.length
      yield this.#progress(batch.bytes)
    }
    this.#checked = this.#lines
  }

  /** Applies the lines. Those that are wrong are left out and told if that was wished, and else end it. */
  async *apply(): AsyncGenerator<ImportNews> {
    const { store } = this.#services
    const check = this.#options.goesOn ? new LineCheck(store) : undefined
    this.#lines = 0
    let underWay: { batch: Batch; result: Promise<ImportResult> } | undefined
    for await (const batch of this.#batches()) {
      // The next batch was read while the store was at work on the one before.
      if (underWay !== undefined) yield* this.#finish(underWay.batch, await underWay.result)
      underWay = undefined
      const sifted = check === undefined ? batch : await this.#sift(batch, check)
      yield* this.#skip(sifted.wrong)
      underWay = { batch: sifted, result: this.#run(sifted) }
      // Who waits for it comes later.
      underWay.result.catch(() => undefined)
    }
    if (underWay !== undefined) yield* this.#finish(underWay.batch, await underWay.result)
  }

  summary(): ImportSummary {
    const seconds = (performance.now() - this.#began) / 1000
    return {
      lines: this.#lines + this.#skipped,
      skipped: this.#skipped,
      types: this.#counts,
      dry_run: this.#options.dryRun,
      seconds: Math.round(seconds * 1000) / 1000,
      lines_per_second: Math.round((this.#lines + this.#skipped) / Math.max(seconds, 0.001)),
    }
  }

  async #run({ good }: Batch): Promise<ImportResult> {
    const { store, clock } = this.#services
    const lines = await prepared(good, this.#services)
    return store.commands.importLines({ lines, now: clock.now() })
  }

  *#finish({ good, bytes }: Batch, { counts, refused }: ImportResult): Generator<ImportNews> {
    this.#counts = addCounts(this.#counts, counts)
    this.#lines += good.length - refused.length
    yield* this.#skip(refused.map(({ index, why }) => ({ number: good[index]?.number ?? 0, why })))
    yield this.#progress(bytes)
  }

  /** Tells of lines that are left out; or ends it with the first. */
  *#skip(wrong: Batch['wrong']): Generator<ImportNews> {
    for (const { number, why } of wrong) {
      if (!this.#options.goesOn) throw new WrongLine(number, why, this.#checked !== undefined)
      this.#skipped += 1
      yield { skipped: { line: number, message: why } }
    }
  }

  #progress(bytes: number): ImportNews {
    const lines = this.#lines + this.#skipped
    return { progress: { lines, bytes, ...(this.#checked !== undefined && { of: this.#checked }) } }
  }

  /** Takes out of a batch the lines that cannot be, by what is in the store and in the lines before. */
  async #sift(batch: Batch, check: LineCheck): Promise<Batch> {
    const wrong = [...batch.wrong]
    const good: GoodLine[] = []
    for (const { type, start, lines } of runsOf(batch.good.map(each => each.line))) {
      const refusals = await check.refusalsOf(type, lines)
      for (const [place, line] of lines.entries()) {
        const number = batch.good[start + place]?.number ?? 0
        const why = refusals.get(place)
        if (why === undefined) good.push({ number, line })
        else wrong.push({ number, why })
      }
    }
    wrong.sort((a, b) => a.number - b.number)
    return { ...batch, good, wrong }
  }

  async *#batches(): AsyncGenerator<Batch> {
    const { fromLine } = this.#options
    let bytes = 0
    const pieces = this.#file.read()
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        bytes += piece.length
        yield piece
      }
    }
    let gathering = new Gathering()
    let last = 0
    for await (const lines of linesOf(counted())) {
      last = lines.at(-1)?.number ?? last
      for (const line of lines) {
        if (line.number < fromLine) continue
        gathering.add(line)
        if (!gathering.isFull) continue
        yield { ...gathering, bytes }
        gathering = new Gathering()
      }
      // A line that is wrong for all to see is told before the rest of the file has come.
      if (gathering.wrong.length === 0) continue
      yield { ...gathering, bytes }
      gathering = new Gathering()
    }
    if (gathering.good.length > 0) yield { ...gathering, bytes }
    // Whoever begins in the middle has most likely another file in mind.
    if (fromLine > 1 && last < fromLine) {
      throw new WrongLine(fromLine, `there is no such line, the last is ${last}`, false)
    }
  }
}

/** A batch that is being put together. */
class Gathering {
  readonly good: GoodLine[] = []
  readonly wrong: { number: number; why: string }[] = []
  #weight = 0
  #characters = 0

  get isFull(): boolean {
    return this.#weight >= FULL_BATCH.weight || this.#characters >= FULL_BATCH.characters
  }

  add({ number, text, violation }: NumberedLine): void {
    if (text === undefined) return void this.wrong.push({ number, why: violation ?? '' })
    try {
      const line = readLine(text)
      this.good.push({ number, line })
      this.#weight += WEIGHTS[line.type] + ('password' in line ? PASSWORD_WEIGHT : 0)
      this.#characters += text.length
    } catch (error) {
      if (!(error instanceof LineViolation)) throw error
      this.wrong.push({ number, why: error.message })
    }
  }
}

/** Lines as the store takes them: secrets sealed or hashed. */
async function prepared(good: readonly GoodLine[], services: ImportServices): Promise<ImportLine[]> {
  const users = good.flatMap(({ line }) => (line.type === 'user' ? [line] : []))
  const ofUsers = users.filter(user => user.password !== undefined || user.stream_key !== undefined)
  const stored =
    ofUsers.length === 0 ? [] : await services.store.transfer.secretsOf(ofUsers.map(user => user.id))
  const secrets = new Map(stored.map(each => [each.user_id, each]))
  const lines: ImportLine[] = []
  for (const { line } of good)
    lines.push(line.type === 'user' ? await prepareUser(line, secrets.get(line.id), services) : line)
  return lines
}

async function prepareUser(
  { password, stream_key, ...line }: TransferLine<'user'>,
  before: StoredSecrets | undefined,
  { streamKeys }: ImportServices,
): Promise<ImportLine> {
  const random = stream_key?.split('_')[2]
  const first_key = streamKeys.mint(line.id, 1, random).stored
  const isOther =
    before !== undefined && stream_key !== undefined && streamKeys.open(line.id, before) !== stream_key
  const version = (before?.version ?? 0) + 1
  const password_hash = line.password_hash ?? (await hashOf(password, before?.password_hash))
  return {
    ...line,
    ...(password_hash !== undefined && { password_hash }),
    first_key,
    ...(isOther && { next_key: { version, stored: streamKeys.mint(line.id, version, random).stored } }),
  }
}

/** The hash of a password: the one that there is, if it is of the same, so that nothing changes. An import waits as long as it takes. */
async function hashOf(
  password: string | undefined,
  before: string | null | undefined,
): Promise<string | undefined> {
  if (password === undefined) return undefined
  return passwords.inTurn(
    { lane: 'operator' },
    async turn => (before && (await turn.matches(password, before)) ? before : turn.hash(password)),
    { maxWaitMilliseconds: Number.POSITIVE_INFINITY },
  )
}
