import { SERVED_BY } from '../cluster/balancer.ts'
import type { Outcome } from '../judge/operation.ts'

const DEADLINE_MILLISECONDS = 20_000

/** What a request is for; findings are made from all requests of a kind. */
export type Work =
  | 'update'
  | 'read'
  | 'directory'
  | 'walk'
  | 'marker'
  | 'stream'
  | 'viewers'
  | 'setting up'
  | 'looking'
  | 'limited'

/** A request and what became of it. */
export interface Asked {
  readonly work: Work
  readonly invoked: number
  readonly returned: number
  /** 0 if there was no answer. */
  readonly status: number
  readonly retryAfter: boolean
  readonly server: string
  /** The answer of the balancer if it could not get one. */
  readonly remark: string
}

interface Details {
  readonly token?: string
  readonly body?: unknown
}

/** Asks for things and writes down how each went. */
export class Caller {
  readonly asked: Asked[] = []
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent
  async ask(work: Work, method: string, path: string, details: Details = {}): Promise<Asked & { body: any }> {
    const invoked = performance.now()
    let [status, text, retryAfter, server] = [0, '', false, '']
    try {
      const answer = await fetch(`${this.#url}${path}`, {
        method,
        headers: {
          ...(details.token !== undefined && { Authorization: `Bearer ${details.token}` }),
          ...(details.body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(details.body !== undefined && { body: JSON.stringify(details.body) }),
        signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
      })
      text = await answer.text()
      retryAfter = answer.headers.has('retry-after')
      server = answer.headers.get(SERVED_BY) ?? ''
      status = answer.status
    } catch {
      // No answer is an answer too: status 0.
    }
    const remark = status === 502 || status === 504 ? text : ''
    const asked = { work, invoked, returned: performance.now(), status, retryAfter, server, remark }
    this.asked.push(asked)
    return { ...asked, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }

  /** The same, where anything but success ends the run. */
  async must(...args: Parameters<Caller['ask']>): ReturnType<Caller['ask']> {
    const answer = await this.ask(...args)
    if (outcomeOf(answer) !== 'ok') {
      throw new Error(
        `${args[1]} ${args[2].slice(0, 80)} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      )
    }
    return answer
  }
}

/** After a refusal nothing has happened; after a failure of the server anything may have. */
export function outcomeOf({ status }: { status: number }): Outcome {
  if (status >= 200 && status < 300) return 'ok'
  return status >= 400 && status < 500 ? 'fail' : 'unknown'
}
