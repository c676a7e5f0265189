/**
 * The requests that a demo has answered, for tests that ask what was called with what. Only the newest are kept, secrets are
 * masked before they are stored, and a test can wait for a request that has not come yet.
 */
import { operations } from '../contract/index.ts'
import type { RecordedRequest } from '../contract/resources/recorded-request.ts'
import { splitPairs } from '../kit/text.ts'
import { maskFields, maskText } from './mask-secrets.ts'

const MAX_REQUESTS = 1000
const MAX_TEXT = 16 * 1024
const MAX_HEADERS = 50
const MAX_WAITING = 100

/** A request and its answer, with texts as they were sent. */
export interface AnsweredRequest
  extends Pick<
    RecordedRequest,
    'at' | 'operation' | 'method' | 'path' | 'client_id' | 'user_id' | 'status' | 'fault'
  > {
  readonly search: string
  readonly headers: Headers
  readonly body: string
  readonly answer: string
}

export interface RequestFilter {
  readonly operation?: string | undefined
  /** Only requests with a greater number. */
  readonly after?: number | undefined
  readonly first?: number | undefined
}

export class RequestJournal {
  #requests: RecordedRequest[] = []
  #counts = new Map<string | null, number>()
  #number = 0
  #isClosed = false
  readonly #waiting = new Set<() => void>()

  record({ search, headers, body, answer, ...rest }: AnsweredRequest): void {
    const { operation, path } = rest
    this.#number += 1
    this.#counts.set(operation, this.total(operation) + 1)
    this.#requests.push({
      number: this.#number,
      ...rest,
      path: cut(maskText(path)),
      query: queryOf(search),
      headers: headersOf(headers),
      body: contentOf(body),
      answer: contentOf(answer),
    })
    if (this.#requests.length > MAX_REQUESTS) this.#requests.shift()
    this.#wakeAll()
  }

  /** Oldest first. */
  list({ operation, after = 0, first = MAX_REQUESTS }: RequestFilter): RecordedRequest[] {
    return this.#requests
      .filter(each => each.number > after && (operation === undefined || each.operation === operation))
      .slice(0, first)
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
      const found = this.list(filter)
      const left = deadline - performance.now()
      const isOver = left <= 0 || this.#isClosed || this.#waiting.size >= MAX_WAITING
      if (found.length > 0 || isOver) return found
      await this.#anyRequest(left)
    }
  }

  /** Numbers continue: a test that waits for a request after a certain number still gets the next one. */
  clear(): void {
    this.#requests = []
    this.#counts.clear()
  }

  /** Ends all waiting, so that the server can stop. */
  close(): void {
    this.#isClosed = true
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake()
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

function queryOf(search: string): RecordedRequest['query'] {
  const byName = Map.groupBy(splitPairs(search) ?? [], ([name]) => name)
  const values = [...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => cut(value))] as const)
  return maskFields(Object.fromEntries(values)) as RecordedRequest['query']
}

function headersOf(headers: Headers): RecordedRequest['headers'] {
  const listed = [...headers].slice(0, MAX_HEADERS).map(([name, value]) => [name, cut(value)])
  return maskFields(Object.fromEntries(listed)) as RecordedRequest['headers']
}

/** JSON as a value, anything else as text. */
function contentOf(text: string): unknown {
  if (text === '') return null
  if (text.length > MAX_TEXT) return cut(maskText(text))
  try {
    return maskFields(JSON.parse(text))
  } catch {
    return maskText(text)
  }
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
