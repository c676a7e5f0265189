/**
 * The details of live streams, which are read after a start. The ranks of 100,000 streams are in one table and take a tenth
 * of the time that all fields take. So a process starts with the ranks and answers; the rest is read a slice at a time, with
 * other work in between. A page of streams without details reads those first. What depends on the details of all streams,
 * such as a filter by game, waits for them.
 *
 * As at every load, what is read may be newer than the point of the directory: the entries that lead there are applied later,
 * which is harmless. An entry about a stream has all its details, so what is read never replaces them.
 */
import { Unavailable } from '../store/errors.ts'
import type { ChannelDetails, RankedStream } from '../store/queries/streams.ts'
import type { LiveRows } from './live-rows.ts'
import { hasDetails, type LiveRow } from './row.ts'

/** Streams read before other work gets its turn: about 3 ms. */
const SLICE = 500

/** Where details come from. */
export interface DetailSource {
  detailsOf(user_ids: readonly string[]): Promise<readonly ChannelDetails[]>
  gamesOf(ids: readonly string[]): Promise<readonly { readonly id: string; readonly name: string }[]>
  /** Applies all entries of the feed. */
  catchUp(): Promise<void>
}

export class Details {
  readonly #rows: LiveRows
  readonly #source: DetailSource | undefined
  /** By `LiveRow.index`, until all details are read. */
  #startedAt: string[] = []
  /** Likewise, by id. A game that gets another name later is in the feed with all its streams. */
  readonly #gameNames = new Map<string, string>()
  #reading: Promise<void> | undefined
  #isStopped = false

  constructor(rows: LiveRows, source: DetailSource | undefined) {
    this.#rows = rows
    this.#source = source
  }

  get areComplete(): boolean {
    return this.#rows.withoutDetails === 0
  }

  /** Adds streams whose details are to be read. */
  expect(streams: readonly RankedStream[]): void {
    for (const stream of streams) this.#startedAt[this.#rows.putRanked(stream).index] = stream.started_at
  }

  /** Reads all that are missing. Fails if the store cannot be read; what was read until then stays. */
  async readAll(): Promise<void> {
    if (this.areComplete) return
    this.#reading ??= this.#readSlices().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  /** Ends the reading of slices, before the store is closed. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#reading?.catch(() => undefined)
  }

  /** Cuts a page, and cuts it again once its streams have their details. */
  async readPage<Page extends { readonly rows: readonly { readonly id: string }[] }>(
    cut: () => Page,
  ): Promise<Page> {
    for (;;) {
      const page = cut()
      const rows = page.rows.flatMap(({ id }) => this.#rows.ofStream(id) ?? []).filter(lacksDetails)
      if (rows.length === 0) return page
      await this.#read(rows)
    }
  }

  async #readSlices(): Promise<void> {
    for (let start = 0; !this.areComplete; start += SLICE) {
      if (this.#isStopped) throw new Unavailable('the directory is closed')
      // Later streams may have the indexes of those that ended.
      if (start >= this.#rows.indexes) start = 0
      const rows = this.#rows.between(start, start + SLICE).filter(lacksDetails)
      if (rows.length > 0) await this.#read(rows)
      await Bun.sleep(0)
    }
    this.#startedAt = []
    this.#gameNames.clear()
  }

  async #read(rows: readonly LiveRow[]): Promise<void> {
    if (this.#source === undefined) throw new Error('no source of details')
    const found = await this.#source.detailsOf(rows.map(row => row.user_id))
    await this.#readGameNames(found)
    for (const details of found) {
      const row = this.#rows.ofUser(details.user_id)
      if (row === undefined || !lacksDetails(row)) continue
      const started_at = this.#startedAt[row.index] ?? ''
      const game_name = this.#gameNames.get(details.game_id) ?? ''
      this.#rows.addDetails(row, { ...details, started_at, game_name })
    }
    if (!rows.some(lacksDetails)) return
    // Their users do not exist any more, which is in the feed, or have no channel.
    await this.#source.catchUp()
    for (const row of rows) if (lacksDetails(row)) this.#rows.end(row.id)
  }

  async #readGameNames(found: readonly ChannelDetails[]): Promise<void> {
    const unknown = new Set<string>()
    for (const { game_id } of found) if (game_id !== '' && !this.#gameNames.has(game_id)) unknown.add(game_id)
    if (unknown.size === 0) return
    for (const { id, name } of (await this.#source?.gamesOf([...unknown])) ?? [])
      this.#gameNames.set(id, name)
  }
}

const lacksDetails = (row: LiveRow): boolean => row.live && !hasDetails(row)
