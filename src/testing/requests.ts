import type { OperationName, RecordedRequest } from '../client/api.ts'
import type { Control } from './control.ts'

const DEFAULT_TIMEOUT = 5000
/** The longest that the server waits in one request. */
const MAX_WAIT = 10_000

/** The requests that the server has answered, except those of the control API. */
export interface Requests {
  /**
   * The oldest request of an operation that an earlier call has not returned, or the next one to come. Throws after
   * `timeout` milliseconds (default: 5000), with a list of what was called instead.
   */
  next(operation: OperationName, options?: { readonly timeout?: number }): Promise<RecordedRequest>
  /** The newest 1000 at most, oldest first. */
  list(filter?: { readonly operation?: OperationName }): Promise<RecordedRequest[]>
  /** How many there were since the last reset or clear. */
  count(operation?: OperationName): Promise<number>
  clear(): Promise<void>
}

interface ListedRequests {
  readonly total: number
  readonly data: RecordedRequest[]
}

export function createRequests(control: Control): Requests {
  /** The number of the last request of each operation that was returned. */
  const seen = new Map<string, number>()
  /** Calls for the same operation take turns, so that each gets a different request. */
  const turns = new Map<string, Promise<unknown>>()

  const ask = (query: Readonly<Record<string, string | number | undefined>>) => {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
    )
    return control<ListedRequests>('GET', `/requests?${given.join('&')}`)
  }

  /** Only the server measures time: the clock of a test may stand still. */
  const waitFor = async (operation: string, timeout: number): Promise<RecordedRequest> => {
    for (let left = Math.ceil(timeout); ; left -= MAX_WAIT) {
      const wait_milliseconds = Math.max(0, Math.min(left, MAX_WAIT))
      const { data } = await ask({ operation, after: seen.get(operation), first: 1, wait_milliseconds })
      const [found] = data
      if (found !== undefined) {
        seen.set(operation, found.number)
        return found
      }
      if (left <= MAX_WAIT) throw new Error(await explain(operation, timeout))
    }
  }

  const explain = async (operation: string, timeout: number): Promise<string> => {
    const calls = new Map<string, number>()
    for (const { operation: name, method, path, status } of (await ask({})).data) {
      const call = name ?? `${method} ${path} (${status})`
      calls.set(call, (calls.get(call) ?? 0) + 1)
    }
    const listed = [...calls].map(([name, times]) => (times === 1 ? name : `${name} ${times} times`))
    const instead = listed.length === 0 ? 'nothing was called' : `what was called: ${listed.join(', ')}`
    return `requests.next: no${seen.has(operation) ? ' other' : ''} request of ${operation} within ${timeout} ms; ${instead}`
  }

  return {
    next: (operation, { timeout = DEFAULT_TIMEOUT } = {}) => {
      if (!(Number.isFinite(timeout) && timeout >= 0))
        throw new TypeError(`requests.next: invalid timeout: must be milliseconds, not ${timeout}`)
      const turn = (turns.get(operation) ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => waitFor(operation, timeout))
      turns.set(operation, turn)
      return turn
    },
    list: async ({ operation } = {}) => (await ask({ operation })).data,
    count: async operation => (await ask({ operation, first: 1 })).total,
    clear: () => control('DELETE', '/requests'),
  }
}
