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

const MAX_FOUND = 2000

export class Documented {
  readonly #document: ApiDocument
  /** By method and path. */
  readonly #found = new Map<string, DescribedOperation | undefined>()
  /** By operation and status. */
  readonly #answers = new Map<string, number>()
  readonly #operations: readonly (readonly [path: RegExp, operation: DescribedOperation])[]

  constructor(document: ApiDocument) {
    this.#document = document
    this.#operations = operationsOf(document).map(each => [
      new RegExp(`^${each.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
      each,
    ])
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

  #find(method: string, path: string): DescribedOperation | undefined {
    const key = `${method} ${path}`
    if (this.#found.has(key)) return this.#found.get(key)
    if (this.#found.size === MAX_FOUND) this.#found.clear()
    const operation = this.#search(method, path)
    this.#found.set(key, operation)
    return operation
  }

  /** A fixed path has precedence over one with a placeholder. */
  #search(method: string, path: string): DescribedOperation | undefined {
    const [alias, prefix = ''] = ALIASES.find(([each]) => each.test(path)) ?? []
    const known = alias === undefined ? path : path.replace(alias, prefix)
    const found = this.#operations.filter(([form, each]) => each.method === method && form.test(known))
    return (found.find(([, each]) => !each.path.includes('{')) ?? found[0])?.[1]
  }
}

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
