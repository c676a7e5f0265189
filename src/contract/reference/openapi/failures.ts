import { familyOf, listProblems, type Operation } from '../../operation.ts'
import { type ProblemName, problems, reasonPhrases } from '../../problem.ts'
import { standardErrorText } from '../../standard-error.ts'
import { listStrictProblems } from '../../strict.ts'
import { byStatus } from '../statuses.ts'
import { headersOfFailure } from './headers.ts'
import { inOrder, type Json, type Schemas } from './schemas.ts'

/** The three forms of an error body (D-4). */
type Form = 'Failure' | 'OAuthFailure' | 'StandardFailure'

const error = { type: 'string', description: 'The reason phrase of the status.', examples: ['Bad Request'] }
const status = { type: 'integer', format: 'int32', description: 'The status of the response.' }
const message = { type: 'string', description: 'What is wrong, and what to do about it.' }

const FORMS: Readonly<Record<Form, { readonly description: string; readonly fields: Json }>> = {
  Failure: { description: 'An error.', fields: { error, status, message } },
  OAuthFailure: { description: 'An error of an OAuth endpoint.', fields: { status, message } },
  StandardFailure: {
    description: 'An error as in RFC 6749, with the fields of the other OAuth endpoints.',
    fields: {
      error: { type: 'string', description: 'A code of RFC 6749 or RFC 8628.' },
      error_description: message,
      status,
      message,
    },
  },
}

/** Responses with few problems are the same in many operations: the document has each once. */
const MOST_SHARED = 2

/** Describes failures, and collects their examples, by the name of the problem, and the responses that are shared. */
export class Failures {
  readonly #schemas: Schemas
  readonly #examples = new Map<string, Json>()
  readonly #responses = new Map<string, Json>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  get examples(): Json {
    return inOrder(this.#examples)
  }

  get responses(): Json {
    return inOrder(this.#responses)
  }

  /** The failures of an operation, by status. */
  of(operation: Operation, { strict }: { readonly strict: boolean }): Json {
    const names = new Set<ProblemName>([...listProblems(operation), 'internal'])
    if (strict) for (const name of listStrictProblems(operation)) names.add(name)
    return Object.fromEntries(
      [...byStatus([...names])].map(([code, all]) => [code, this.#shared(operation, code, all)]),
    )
  }

  #shared(operation: Operation, code: number, names: readonly ProblemName[]): Json {
    const response = this.#response(operation, code, names)
    if (names.length > MOST_SHARED) return response
    const form = errorForm(operation)
    const key = [form === 'StandardFailure' ? 'openid' : familyOf(operation), ...names].join('.')
    this.#responses.set(key, response)
    return { $ref: `#/components/responses/${key}` }
  }

  #response(operation: Operation, code: number, names: readonly ProblemName[]): Json {
    const form = errorForm(operation)
    return {
      description: `${reasonPhrases[code]}: ${names.join(', ')}.`,
      headers: headersOfFailure(operation, names),
      content: {
        'application/json': {
          schema: this.#schema(form, names),
          examples: Object.fromEntries(names.map(name => [name, this.#example(form, name)])),
        },
      },
    }
  }

  #schema(form: Form, names: readonly ProblemName[]): Json {
    const { description, fields } = FORMS[form]
    const schema = { type: 'object', description, required: Object.keys(fields), properties: fields }
    const more = Object.fromEntries(names.flatMap(name => Object.entries(describeMoreFields(name))))
    if (Object.keys(more).length === 0) return this.#schemas.name(form, schema)
    return { ...schema, properties: { ...fields, ...more } }
  }

  #example(form: Form, name: ProblemName): Json {
    const key = form === 'Failure' ? name : `${form}.${name}`
    this.#examples.set(key, { summary: name, value: exampleBody(form, name) })
    return { $ref: `#/components/examples/${key}` }
  }
}

function errorForm(operation: Operation): Form {
  if (operation.standardErrors) return 'StandardFailure'
  return familyOf(operation) === 'oauth' ? 'OAuthFailure' : 'Failure'
}

type Rule = {
  readonly status: number
  readonly message: (...details: string[]) => string
  readonly fields?: (...details: string[]) => Readonly<Record<string, string>>
}

/** The fields that the error body of a problem has beside the usual ones. */
function describeMoreFields(name: ProblemName): Json {
  const { fields } = problems[name] as unknown as Rule
  return Object.fromEntries(Object.keys(fields?.('') ?? {}).map(field => [field, { type: 'string' }]))
}

/** With an ellipsis for each detail. */
function exampleBody(form: Form, name: ProblemName): Json {
  const rule = problems[name] as unknown as Rule
  const details = Array.from({ length: rule.message.length }, () => '…')
  const body = { status: rule.status, message: rule.message(...details) }
  if (form === 'OAuthFailure') return body
  if (form === 'Failure') return { error: reasonPhrases[rule.status], ...body, ...rule.fields?.(...details) }
  return { error: standardErrorText(name), error_description: body.message, ...body }
}
