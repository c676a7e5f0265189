/**
 * The forms that try an operation, as plain values. The bundler evaluates this file and bundles its export
 * (`build/inline-calls.ts`), so that the contract stays out of the browser; the page loads it with the first form.
 */
import type { TSchema } from 'typebox'
import { operations } from '../../contract/index.ts'
import { type Family, familyOf, type Method, type Operation } from '../../contract/operation.ts'
import { type Input, listInputs } from '../../contract/reference/inputs.ts'
import { typeInWords } from '../../contract/reference/markdown.ts'
import type { Scope } from '../../contract/scope.ts'

/** Whose token a request carries: none, one of the site for the reader, or one that the reader pastes. */
export type Way = 'none' | 'site' | 'paste'

export interface OperationForm {
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly family: Family
  /** The first is the default. */
  readonly ways: readonly Way[]
  /** Of the token that the site gives for this operation. */
  readonly scopes: readonly Scope[]
  /** How the body is written; absent: there is none. */
  readonly bodyType?: 'json' | 'form' | 'lines'
  readonly exactlyOne?: readonly string[]
  readonly fields: readonly FormField[]
}

export interface FormField {
  readonly name: string
  readonly place: 'path' | 'query' | 'header' | 'body'
  /** `list`: one value per line. `json`: any JSON value. */
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'numbers' | 'json' | 'lines'
  readonly choices?: readonly string[]
  readonly required: boolean
  /** Type and limits, in words. */
  readonly type: string
  readonly description: string
  readonly example: string
}

/** Scopes that an operation does not require, but answers more with. */
const USEFUL_SCOPES: Readonly<Record<string, readonly Scope[]>> = {
  GetUsers: ['user:read:email'],
  UpdateUser: ['user:read:email'],
  GetChannelFollowers: ['moderator:read:followers'],
}

function createForm(operation: Operation): OperationForm {
  const { id, method, path, access, exactlyOne } = operation
  const bodyType = chooseBodyType(operation)
  const required = access.kind === 'token' ? access.scopes.slice(0, 1) : []
  return {
    id,
    method,
    path,
    family: familyOf(operation),
    ways: listWays(operation),
    scopes: [...required, ...(USEFUL_SCOPES[id] ?? [])],
    ...(bodyType && { bodyType }),
    ...(exactlyOne && { exactlyOne }),
    fields: [
      ...listInputs(operation).map(input => toFormField(input, operation)),
      ...(operation.bodyLines === undefined ? [] : [linesField(operation)]),
    ],
  }
}

/** Subscriptions belong to a registered client, which the site is not (D-150). */
function listWays(operation: Operation): Way[] {
  const { access, path, problems } = operation
  if (access.kind === 'operator' || path.startsWith('/helix/eventsub/')) return ['paste']
  if (access.kind === 'anyone') return ['none', 'site', 'paste']
  if (access.kind === 'token' || problems.includes('missing_authorization')) return ['site', 'paste']
  return ['none']
}

function chooseBodyType(operation: Operation): OperationForm['bodyType'] | undefined {
  if (operation.bodyLines !== undefined) return 'lines'
  if (operation.body === undefined) return undefined
  return operation.bodyFrom === 'anywhere' && familyOf(operation) === 'oauth' ? 'form' : 'json'
}

type Shape = TSchema & {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Shape
}

function toFormField(
  { name, place, schema, description, required }: Input,
  { example }: Operation,
): FormField {
  const where = place === 'query or body' ? 'body' : place
  const kind = chooseKind(schema as Shape)
  const choices = (schema as Shape).enum
  const examples: Readonly<Record<string, unknown>> = {
    ...example.params,
    ...example.query,
    ...(example.body as object | undefined),
  }
  return {
    name,
    place: where,
    kind,
    ...(choices && { choices }),
    required,
    type: typeInWords(schema, place),
    description,
    example: asText(examples[name], kind),
  }
}

function chooseKind({ type, enum: choices, items }: Shape): FormField['kind'] {
  if (choices !== undefined) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean' || type === 'string') return type === 'string' ? 'text' : type
  if (items?.type === 'integer') return 'numbers'
  return items?.type === 'string' || items?.enum !== undefined ? 'list' : 'json'
}

function linesField({ bodyLines, example }: Operation): FormField {
  const lines = Array.isArray(example.body) ? example.body.map(line => JSON.stringify(line)) : []
  return {
    name: 'body',
    place: 'body',
    kind: 'lines',
    required: true,
    type: `one JSON ${bodyLines === undefined ? 'value' : 'object'} per line`,
    description: '',
    example: lines.join('\n'),
  }
}

function asText(value: unknown, kind: FormField['kind']): string {
  if (value === undefined) return ''
  if (kind === 'json') return JSON.stringify(value, null, 2)
  return Array.isArray(value) ? value.join('\n') : String(value)
}

export const FORMS: Readonly<Record<string, OperationForm>> = Object.fromEntries(
  operations.map(operation => [operation.id, createForm(operation)]),
)
