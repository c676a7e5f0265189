/**
 * The requests that a demo has answered, for tests that ask what was called with what. A request is kept as it was sent and
 * answered, because most are never read: only a reader pays for parsing and masking, and every reader gets secrets masked.
 * Only the newest are kept, and a test can wait for a request that has not come yet.
 */
import { operations } from '../../contract/index.ts'
import type { RecordedRequest } from '../../contract/resources/recorded-request.ts'
import { splitPairs } from '../../kit/text.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { maskFields, maskText } from './mask-secrets.ts'

const MAX_REQUESTS = 1000
/** The maximum size of all kept bodies and answers together. Headers and URLs do not count: the listener limits both to 32 KiB. */
const MAX_BYTES = 64 * 1024 * 1024
/** Characters of an answer that are kept: more than are shown, because secrets are masked before a text is cut. */
const MAX_KEPT = 64 * 1024
const MAX_SHOWN = 16 * 1024
const MAX_HEADERS = 50
const MAX_WAITING = 100

/** A request and its answer as they were sent. */
export interface AnsweredRequest
  extends Pick<
    RecordedRequest,
    'operation' | 'method' | 'path' | 'client_id' | 'user_id' | 'status' | 'fault'
  > {
  readonly at: number
  readonly search: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  /** A blob is shared with the response cache; bytes are the beginning of a long text. */
  readonly answer: string | Blob | Uint8Array | null
}

interface KeptRequest {
  readonly number: number
  readonly answered: AnsweredRequest
  readonly bytes: number
}

export interface RequestFilter {
  readonly operation?: string | undefined
  /** Only requests with a greater number. */
  readonly after?: number | undefined
  readonly first?: number | undefined
}

export class RequestJournal {
  #kept: KeptRequest[] = []
  #bytes = 0
  #counts = new Map<string | null, number>()
  #number = 0
  #isClosed = false
  readonly #waiting = new Set<() => void>()

  record(request: AnsweredRequest): void {
    const answered = shorten(request)
    const bytes = bytesIn(answered)
    this.#number += 1
    this.#counts.set(request.operation, this.total(request.operation) + 1)
    this.#kept.push({ number: this.#number, answered, bytes })
    this.#bytes += bytes
    while (this.#kept.length > MAX_REQUESTS || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#kept.shift()?.bytes ?? 0
    for (const wake of this.#waiting) wake()
  }

  /** Oldest first. */
  list(filter: RequestFilter): Promise<RecordedRequest[]> {
    return Promise.all(this.#find(filter).map(render))
  }

  /** The number of requests since the last clear, also of those that are no longer kept. */
  total(operation?: string | null): number {
    if (operation !== undefined) return this.#counts.get(operation) ?? 0
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The same as `list`, but waits for the first one. */
  async next(filter: RequestFilter, milliseconds: number): Promise<RecordedRequest[]> {
    const deadline = performance.now() + milliseconds
    for (;;) {
      const found = this.#find(filter)
      const left = deadline - performance.now()
      const isOver = left <= 0 || this.#isClosed || this.#waiting.size >= MAX_WAITING
      if (found.length > 0 || isOver) return Promise.all(found.map(render))
      await this.#anyRequest(left)
    }
  }

  /** Numbers continue: a test that waits for a request after a certain number still gets the next one. */
  clear(): void {
    this.#kept = []
    this.#bytes = 0
    this.#counts.clear()
  }

  /** Ends all waiting, so that the server can stop. */
  close(): void {
    this.#isClosed = true
    for (const wake of this.#waiting) wake()
  }

  #find({ operation, after = 0, first = MAX_REQUESTS }: RequestFilter): KeptRequest[] {
    return this.#kept
      .filter(
        ({ number, answered }) =>
          number > after && (operation === undefined || answered.operation === operation),
      )
      .slice(0, first)
  }

  #anyRequest(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, milliseconds)
      this.#waiting.add(wake)
    })
  }
}

/** Whether requests of an operation of this name can be recorded. */
export function isRecordedOperation(name: string): boolean {
  return operations.some(({ id, path }) => id === name && !path.startsWith('/control/'))
}

/** With a copy of the beginning of a long answer: a slice would keep all of it in memory. */
function shorten(request: AnsweredRequest): AnsweredRequest {
  const { answer } = request
  if (typeof answer !== 'string' || answer.length <= MAX_KEPT) return request
  return { ...request, answer: new TextEncoder().encode(answer.slice(0, MAX_KEPT)) }
}

/** The size of body and answer in memory. A character of a string takes up to two bytes. */
function bytesIn({ body, answer }: AnsweredRequest): number {
  const bytes = body?.buffer.byteLength ?? 0
  if (typeof answer === 'string') return bytes + 2 * answer.length
  return bytes + (answer instanceof Blob ? answer.size : (answer?.byteLength ?? 0))
}

async function render({ number, answered }: KeptRequest): Promise<RecordedRequest> {
  const { at, search, headers, body, path, answer, ...rest } = answered
  return {
    number,
    at: isoMillis(at),
    ...rest,
    path: cut(maskText(path)),
    query: renderQuery(search),
    headers: renderHeaders(headers),
    body: renderContent(await readText(body ?? null)),
    answer: renderContent(await readText(answer), answer instanceof Uint8Array),
  }
}

async function readText(kept: AnsweredRequest['answer']): Promise<string> {
  if (typeof kept === 'string') return kept
  const bytes = kept instanceof Blob ? await kept.bytes() : kept
  return new TextDecoder().decode(bytes ?? undefined)
}

function renderQuery(search: string): RecordedRequest['query'] {
  const byName = Map.groupBy(splitPairs(search) ?? [], ([name]) => name)
  const values = [...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value)] as const)
  const masked = maskFields(Object.fromEntries(values)) as RecordedRequest['query']
  return Object.fromEntries(Object.entries(masked).map(([name, texts]) => [name, texts.map(cut)]))
}

function renderHeaders(headers: Headers): RecordedRequest['headers'] {
  const masked = maskFields(Object.fromEntries([...headers].slice(0, MAX_HEADERS)))
  return Object.fromEntries(
    Object.entries(masked as RecordedRequest['headers']).map(([name, text]) => [name, cut(text)]),
  )
}

/** JSON as a value, anything else as text. */
function renderContent(text: string, isShortened = false): unknown {
  if (text === '') return null
  if (isShortened) return cut(maskText(withoutPartialSecret(text)))
  if (text.length > MAX_SHOWN) return cut(maskText(text))
  try {
    return maskFields(JSON.parse(text))
  } catch {
    return maskText(text)
  }
}

/** The end of a shortened text may be the beginning of a secret, which has no longer its form. */
function withoutPartialSecret(text: string): string {
  return text.replace(/[\w.-]*$/, '')
}

function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
