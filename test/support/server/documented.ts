/** Answers held against an OpenAPI document: status, body and headers. */
import { describedViolations } from '../../../rig/fuzz/check-answer.ts'
import { type ApiDocument, type DescribedOperation, operationsOf } from '../../../rig/fuzz/document.ts'

interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The prefixes under which client libraries look for the same operations on a local server (D-1). */
const ALIASES: readonly (readonly [alias: RegExp, prefix: string])[] = [
  [/^\/mock\//, '/helix/'],
  [/^\/eventsub\//, '/helix/eventsub/'],
  [/^\/auth\//, '/oauth2/'],
]

/** Of a long list a few rows are checked, not all: over all tests that finds the same, in a third of the time. */
const LONG_TEXT = 3000
const CHECKED_ROWS = 3

/** So many answers of an operation with one status are checked in a process, and of the others every tenth. */
const CHECKED_ANSWERS = 30
const CHECKED_LATER = 10

export class Documented {
  readonly #document: ApiDocument
  /** By operation and status. */
  readonly #answers = new Map<string, number>()
  /** By method and path. */
  readonly #fixed = new Map<string, DescribedOperation>()
  readonly #withPlaceholders: (readonly [path: RegExp, operation: DescribedOperation])[] = []

  constructor(document: ApiDocument) {
    this.#document = document
    for (const each of operationsOf(document)) {
      const { method, path } = each
      if (path.includes('{')) this.#withPlaceholders.push([formOf(path), each])
      else this.#fixed.set(`${method} ${path}`, each)
    }
  }

  /** What is not as described; nothing, if the document has no such operation or the server failed as a test planned. */
  violationsOf({ method, path, status, headers, text }: Exchange): string[] {
    const operation = this.#find(method, path)
    const declared = operation?.responses[status]
    if (operation === undefined || (declared === undefined && status >= 500)) return []
    if (declared === undefined) return [`${operation.operationId}: status ${status} is not declared`]
    if (!this.#isNext(operation, status)) return []
    const answer = {
      status,
      headers: new Map(headers),
      body: Buffer.from(text.length > LONG_TEXT ? shortened(text) : text),
    }
    return describedViolations(answer, declared, this.#document.components.schemas).map(
      violation => `${operation.operationId}, status ${status}: ${violation}`,
    )
  }

  #isNext({ operationId }: DescribedOperation, status: number): boolean {
    const key = `${operationId} ${status}`
    const number = (this.#answers.get(key) ?? 0) + 1
    this.#answers.set(key, number)
    return number <= CHECKED_ANSWERS || number % CHECKED_LATER === 0
  }

  /** A fixed path has precedence over one with a placeholder. */
  #find(method: string, path: string): DescribedOperation | undefined {
    const [alias, prefix = ''] = ALIASES.find(([each]) => each.test(path)) ?? []
    const known = alias === undefined ? path : path.replace(alias, prefix)
    return (
      this.#fixed.get(`${method} ${known}`) ??
      this.#withPlaceholders.find(([form, each]) => each.method === method && form.test(known))?.[1]
    )
  }
}

const formOf = (path: string) =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`)

/** With the first, a random and the last row of its list. What is not JSON, or has no list, stays as it is. */
function shortened(text: string): string {
  if (!text.startsWith('{"')) return text
  let body: { data?: unknown }
  try {
    body = JSON.parse(text)
  } catch {
    return text
  }
  const { data } = body
  if (!Array.isArray(data) || data.length <= CHECKED_ROWS) return text
  const any = Math.floor(Math.random() * data.length)
  return JSON.stringify({ ...body, data: [data[0], data[any], data.at(-1)] })
}
