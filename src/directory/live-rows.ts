import { imageUrl } from '../contract/image-urls.ts'
import { isOtherName } from '../domain/search/channel-search.ts'
import { normalizeName } from '../domain/search/normalize-name.ts'
import { compareDecimal } from '../kit/decimal.ts'
import type { LiveStream } from '../store/feed.ts'
import type { RankedStream } from '../store/queries/streams.ts'
import { NO_STREAM } from './journal.ts'
import { Numbers } from './numbers.ts'
import { PairBits } from './pair-bits.ts'
import { hasDetails, type LiveRow, type ShownFields, withGap } from './row.ts'
import { SortedTexts } from './sorted-texts.ts'

/** A user's channel and its live row, if any. Frequent look-ups keep channels to avoid the search by id. */
export interface Channel {
  readonly user_id: string
  row: LiveRow | undefined
  /** How many kept lists have it. A channel that is in none is dropped while it is offline. */
  kept: number
}

/** All live rows, indexed by stream, user and login, and their viewer counts. */
export class LiveRows {
  readonly games = new Numbers()
  readonly languages = new Numbers()
  readonly logins = new SortedTexts()
  /** Normalized display names that differ from the login by more than spaces: searches find the others by login. */
  readonly otherNames = new SortedTexts()
  /** Of the texts that searches on the site look into. */
  readonly pairBits = new PairBits()
  /** By `LiveRow.index`: names, title and tags, normalized, one to a line. */
  readonly #searched: string[] = []
  readonly #byStream = new Map<string, LiveRow>()
  readonly #byLogin = new Map<string, LiveRow>()
  readonly #channels = new Map<string, Channel>()
  readonly #publicUrl: string
  readonly #onMove: (row: LiveRow) => void
  /** By `LiveRow.index`. An index is reused after its stream ends. */
  #counts = new Int32Array(1024)
  /** The number of the game, likewise; `NO_STREAM` where no live row has the index. */
  #games = new Int32Array(1024).fill(NO_STREAM)
  /** When the stream started, in milliseconds since 1970, likewise. */
  #starts = new Float64Array(1024)
  readonly #byIndex: (LiveRow | undefined)[] = []
  /** The number of live rows of each game, by its number. */
  readonly #liveByGame: number[] = []
  /** The name of each game, by its number, and the same normalized. */
  readonly #gameNames: string[] = []
  /** Undefined where a number has no live row since the start. */
  readonly #normalizedGameNames: (string | undefined)[] = []
  #used = 0
  readonly #free: number[] = []
  /** Ascending, unless rows were added out of order (`#unsorted`). Includes rows that have ended since. */
  #byId: LiveRow[] = []
  #unsorted = false
  #withoutDetails = 0

  /** `onMove` is called with a row whose game or language has changed. */
  constructor(publicUrl: string, onMove: (row: LiveRow) => void) {
    this.#publicUrl = publicUrl
    this.#onMove = onMove
  }

  get size(): number {
    return this.#byStream.size
  }

  /** How many live rows have no details yet. */
  get withoutDetails(): number {
    return this.#withoutDetails
  }

  /** The current viewer counts. Do not keep a reference: the array changes, and is replaced when it grows. */
  get counts(): Int32Array {
    return this.#counts
  }

  copyCounts(): Int32Array {
    return this.#counts.slice(0, this.#used)
  }

  /** The current games, by `LiveRow.index`. */
  copyGames(): Int32Array {
    return this.#games.slice(0, this.#used)
  }

  hasLive(game: number): boolean {
    return (this.#liveByGame[game] ?? 0) > 0
  }

  totalViewers(): number {
    let viewers = 0
    for (const { index } of this.#byStream.values()) viewers += this.#counts[index] as number
    return viewers
  }

  ofStream(stream_id: string): LiveRow | undefined {
    return this.#byStream.get(stream_id)
  }

  ofUser(user_id: string): LiveRow | undefined {
    return this.#channels.get(user_id)?.row
  }

  ofLogin(login: string): LiveRow | undefined {
    return this.#byLogin.get(login)
  }

  /** The live rows with these indexes. */
  between(start: number, end: number): LiveRow[] {
    return this.#byIndex.slice(start, end).filter(row => row !== undefined)
  }

  /** All indexes are below this. */
  get indexes(): number {
    return this.#used
  }

  /** The row at an index, if one is live. */
  at(index: number): LiveRow | undefined {
    return this.#byIndex[index]
  }

  /** Names, title and tags of the live row at an index, normalized, one to a line. Empty if no row is live there. */
  searchedAt(index: number): string {
    return this.#searched[index] ?? ''
  }

  /** The current games, by `LiveRow.index`. Do not keep a reference. */
  get gamesByIndex(): Int32Array {
    return this.#games
  }

  /** By the number of each game, a 1 if its normalized name satisfies a condition. */
  gamesWhere(holds: (normalized: string) => boolean): Uint8Array {
    return Uint8Array.from(this.#normalizedGameNames, name => (name !== undefined && holds(name) ? 1 : 0))
  }

  inIdOrder(): readonly LiveRow[] {
    this.#byId = this.#byId.filter(row => row.live)
    if (this.#unsorted) this.#byId.sort((a, b) => compareDecimal(a.id, b.id))
    this.#unsorted = false
    return this.#byId
  }

  /** The rows that started last, the latest first. */
  latest(count: number): LiveRow[] {
    const indexes: number[] = []
    const startAt = (at: number) => this.#starts[indexes[at] as number] as number
    for (let index = 0; index < this.#used; index++) {
      if (this.#games[index] === NO_STREAM) continue
      const start = this.#starts[index] as number
      if (indexes.length === count && startAt(count - 1) >= start) continue
      let at = indexes.length
      while (at > 0 && startAt(at - 1) < start) at -= 1
      indexes.splice(at, 0, index)
      indexes.length = Math.min(indexes.length, count)
    }
    return indexes.map(index => this.#byIndex[index] as LiveRow)
  }

  keepChannels(user_ids: readonly string[]): Channel[] {
    return user_ids.map(user_id => {
      const channel = this.#channel(user_id)
      channel.kept += 1
      return channel
    })
  }

  /** Ends what `keepChannels` began. */
  releaseChannels(channels: readonly Channel[]): void {
    for (const channel of channels) {
      channel.kept -= 1
      if (channel.kept === 0 && channel.row === undefined) this.#channels.delete(channel.user_id)
    }
  }

  /** Adds a stream whose details follow: those of a later `put` or of `addDetails`. */
  putRanked(stream: RankedStream): LiveRow {
    const row = this.#add(stream, this.#channel(stream.user_id))
    this.#counts[row.index] = stream.viewer_count
    return row
  }

  /** Adds the details of a stream that has none. */
  addDetails(row: LiveRow, details: ShownFields): void {
    this.#byLogin.set(details.user_login, row)
    this.#update(row, details)
  }

  /** Adds or updates a stream. `since` is set if the stream has just started. */
  put(stream: LiveStream, since?: number): LiveRow {
    let channel = this.#channel(stream.user_id)
    if (channel.row !== undefined && channel.row.id !== stream.id) {
      this.end(channel.row.id)
      channel = this.#channel(stream.user_id)
    }
    const known = channel.row ?? this.#byStream.get(stream.id)
    const row = known ?? this.#add(stream, channel)
    if (since !== undefined) row.since = since
    if (this.#byLogin.get(stream.user_login) !== row) {
      if (known !== undefined && this.#byLogin.get(row.login) === row) this.#byLogin.delete(row.login)
      this.#byLogin.set(stream.user_login, row)
    }
    this.#update(row, stream)
    this.#counts[row.index] = stream.viewer_count
    return row
  }

  end(stream_id: string): void {
    const row = this.#byStream.get(stream_id)
    if (row === undefined) return
    row.live = false
    if (!hasDetails(row)) this.#withoutDetails -= 1
    this.#free.push(row.index)
    this.#setGame(row.index, NO_STREAM)
    this.logins.set(row.index, undefined)
    this.otherNames.set(row.index, undefined)
    this.#setSearched(row.index, '')
    this.#byIndex[row.index] = undefined
    this.#byStream.delete(stream_id)
    const channel = this.#channel(row.user_id)
    channel.row = undefined
    if (channel.kept === 0) this.#channels.delete(row.user_id)
    if (this.#byLogin.get(row.login) === row) this.#byLogin.delete(row.login)
  }

  /** Ends all streams except these. */
  endOthers(streams: readonly { readonly id: string }[]): void {
    if (this.size === 0) return
    const remaining = new Set(streams.map(stream => stream.id))
    for (const id of this.#byStream.keys()) if (!remaining.has(id)) this.end(id)
  }

  /** An index that no stream has had so far, for one that has ended: streams that start later may reuse it. */
  indexOfEnded(): number {
    const index = this.#newIndex()
    this.#free.push(index)
    return index
  }

  #newIndex(): number {
    const index = this.#used++
    if (index >= this.#counts.length) {
      this.#counts = enlarged(this.#counts, 0)
      this.#games = enlarged(this.#games, NO_STREAM)
      const starts = new Float64Array(this.#counts.length)
      starts.set(this.#starts)
      this.#starts = starts
    }
    return index
  }

  #setSearched(index: number, text: string): void {
    if (this.#searched[index] === text) return
    this.#searched[index] = text
    this.pairBits.set(index, text)
  }

  #setGame(index: number, game: number): void {
    const former = this.#games[index] as number
    if (former !== NO_STREAM) this.#liveByGame[former] = (this.#liveByGame[former] ?? 0) - 1
    if (game !== NO_STREAM) this.#liveByGame[game] = (this.#liveByGame[game] ?? 0) + 1
    this.#games[index] = game
  }

  #add(stream: Pick<LiveStream, 'id' | 'user_id'>, channel: Channel): LiveRow {
    const row: LiveRow = {
      id: stream.id,
      user_id: stream.user_id,
      index: this.#free.pop() ?? this.#newIndex(),
      since: 0,
      login: '',
      name: '',
      game: NO_STREAM,
      language: -1,
      live: true,
      text: '',
      gap: 0,
      rendered: '',
      renderedCount: -1,
    }
    const last = this.#byId.at(-1)
    if (last !== undefined && compareDecimal(last.id, stream.id) > 0) this.#unsorted = true
    this.#byId.push(row)
    this.#byIndex[row.index] = row
    this.#byStream.set(stream.id, row)
    this.#withoutDetails += 1
    channel.row = row
    return row
  }

  #update(row: LiveRow, stream: ShownFields): void {
    const game = this.games.of(stream.game_id)
    const language = this.languages.of(stream.language)
    const isNew = !hasDetails(row)
    const hasMoved = !isNew && (row.game !== game || row.language !== language)
    const { text, gap } = withGap(row.id, stream, imageUrl(this.#publicUrl, 'channels', stream.user_id))
    row.login = stream.user_login
    row.name = normalizeName(stream.user_name)
    if (isNew) {
      this.#starts[row.index] = Date.parse(stream.started_at)
      this.#withoutDetails -= 1
    }
    this.logins.set(row.index, row.login)
    this.otherNames.set(row.index, isOtherName(row.login, row.name) ? row.name : undefined)
    this.#setSearched(
      row.index,
      normalizeName([row.login, row.name, stream.title, ...stream.tags].join('\n')),
    )
    if (this.#gameNames[game] !== stream.game_name) {
      this.#gameNames[game] = stream.game_name
      this.#normalizedGameNames[game] = normalizeName(stream.game_name)
    }
    row.game = game
    this.#setGame(row.index, game)
    row.language = language
    row.text = text
    row.gap = gap
    row.rendered = ''
    row.renderedCount = -1
    if (hasMoved) this.#onMove(row)
  }

  #channel(user_id: string): Channel {
    let channel = this.#channels.get(user_id)
    if (channel === undefined) {
      channel = { user_id, row: undefined, kept: 0 }
      this.#channels.set(user_id, channel)
    }
    return channel
  }
}

function enlarged(array: Int32Array<ArrayBuffer>, filler: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2).fill(filler)
  larger.set(array)
  return larger
}
