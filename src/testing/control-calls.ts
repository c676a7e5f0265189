/** A failure that is to come: of the next so many calls of an operation, or of the write of one entitlement. */
export interface PlannedFault {
  /** The name of an operation, such as GetStreams. */
  readonly operation: string
  readonly outcome: 'update_failed' | 'unavailable' | 'rate_limited' | 'slow'
  /** With update_failed: whose write fails; without it, that of any. */
  readonly entitlement_id?: string
  /** With slow: how long; 5000 if left out. */
  readonly milliseconds?: number
  /** How often; once if left out. */
  readonly times?: number
}

/** The levers of a running demo, over HTTP: what a test in any other language would call as well. */
export class ControlCalls {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  async readClock(): Promise<Date> {
    return timeIn(await this.#call('GET', '/clock'))
  }

  async moveClock(move: { advance_seconds?: number; running?: boolean }): Promise<Date> {
    return timeIn(await this.#call('POST', '/clock', move))
  }

  async planFault(fault: PlannedFault): Promise<void> {
    await this.#call('POST', '/faults', fault)
  }

  async clearFaults(): Promise<void> {
    await this.#call('DELETE', '/faults')
  }

  async reset(): Promise<void> {
    await this.#call('POST', '/reset')
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Strand refused ${method} ${path}: ${sentenceIn(text)}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}

function timeIn(answer: unknown): Date {
  const [face] = (answer as { data: [{ now: string }] }).data
  return new Date(face.now)
}

/** The message of an error body, or the body if it is something else. */
function sentenceIn(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text
  } catch {
    return text
  }
}
