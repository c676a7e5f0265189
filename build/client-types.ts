/**
 * Writes `dist/generated/client/api.ts`: the types of the client as plain declarations, generated from the contract. Programs
 * that use the package compile these instead of TypeBox's declarations, which take half a minute, and editors show the
 * descriptions. `rootDirs` of tsconfig.json makes the compiler find the file beside those of `src/client`.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EVENT_TYPES } from '../src/contract/events/event-types.ts'
import {
  controlOperations,
  dropsOperations,
  helixOperations,
  oauthOperations,
  operations,
  playbackOperations,
} from '../src/contract/index.ts'
import { createOpenidToken } from '../src/contract/oauth/create-openid-token.ts'
import { createToken } from '../src/contract/oauth/create-token.ts'
import { familyOf, type Operation, queryParameters } from '../src/contract/operation.ts'
import { problems } from '../src/contract/problem.ts'
import { accessInWords } from '../src/contract/reference/markdown.ts'
import { grants } from '../src/contract/resources/grants.ts'
import { Scenario } from '../src/contract/resources/scenario.ts'
import { nameOf } from './named-schemas.ts'
import { doc, type Schema, SchemaTypes } from './schema-types.ts'

const FILE = join(import.meta.dir, '../dist/generated/client/api.ts')

const FAMILIES: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  Helix: helixOperations,
  Drops: dropsOperations,
  Oauth: oauthOperations,
  Playback: playbackOperations,
  Control: controlOperations,
}

/** At once: a compiler that reads the file meanwhile finds all of it. */
export function writeClientTypes(): void {
  const written = `${FILE}.${process.pid}.new`
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(written, clientTypes())
  renameSync(written, FILE)
}

/** The text of `client/api.ts`. */
export function clientTypes(): string {
  const types = new SchemaTypes()
  const callable = operations.filter(({ answerLines }) => answerLines === undefined)
  const declared = [
    ...EVENT_TYPES.map(({ type, summary, event }) =>
      types.interfaceOf(eventName(type), summary, event, 'answer'),
    ),
    eventMap(),
    types.interfaceOf(
      'Scenario',
      'What a test needs in the demo world. Each named entry appears under its name in `world.scenario`.',
      Scenario as unknown as Schema,
      'input',
    ),
    ...callable.flatMap(operation => [inputType(types, operation), ...answerType(types, operation)]),
    ...Object.entries(FAMILIES).map(([family, members]) => familyType(family, members)),
  ]
  return `${[
    '/** Generated from the contract by `npm run types`. Do not edit. */',
    "import type { ListMethod, Method, RowsMethod, UpdateMethod } from './signatures.ts'",
    union(
      'OperationName',
      'The name of an operation that clients call, not one of the control API.',
      operations.filter(operation => familyOf(operation) !== 'control').map(({ id }) => id),
    ),
    union('ErrorCode', 'The name of an error, as the header `Strand-Error` has it.', Object.keys(problems)),
    ...types.named(),
    ...declared,
  ].join('\n\n')}\n`
}

function union(name: string, about: string, values: readonly string[]): string {
  return `${doc(about)}export type ${name} =\n${values.map(value => `  | '${value}'`).join('\n')}`
}

/** `StreamOnlineEvent` */
function eventName(type: string): string {
  const words = type.split('.').map(word => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Event`
}

function eventMap(): string {
  const members = EVENT_TYPES.map(({ type, summary }) => `${doc(summary, 1)}  '${type}': ${eventName(type)}`)
  return `${doc('The events by the names of their types.')}export interface Events {\n${members.join('\n')}\n}`
}

function inputType(types: SchemaTypes, operation: Operation): string {
  const { id, exactlyOne } = operation
  const schema = inputSchema(operation)
  const about = `The input of ${id}.`
  if (operation === createToken || operation === createOpenidToken) return grantTypes(types, id, schema)
  if (exactlyOne === undefined) return types.interfaceOf(`${id}Input`, about, schema, 'input')
  const variants = exactlyOne.map(
    chosen => `{\n${types.propertiesOf(choosing(schema, chosen, exactlyOne), 'input', 1, `${id}Input`)}\n}`,
  )
  const names = exactlyOne.map(name => `\`${name}\``).join(', ')
  return `${doc(`${about} Exactly one of ${names} is given.`)}export type ${id}Input = ${variants.join(' | ')}`
}

function inputSchema(operation: Operation): Schema {
  const parts: Schema[] = [operation.params, queryParameters(operation), operation.body].filter(
    part => part !== undefined,
  )
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  }
}

/** The input with this one of several alternatives. */
function choosing(
  { properties = {}, required = [] }: Schema,
  chosen: string,
  all: readonly string[],
): Schema {
  const kept = Object.entries(properties).map(([name, each]) => [
    name,
    all.includes(name) && name !== chosen ? { not: {} } : each,
  ])
  return { properties: Object.fromEntries(kept), required: [...required, chosen] }
}

/** The parser leaves all fields of the token endpoint optional, because clients match on the message for each missing one. */
function grantTypes(types: SchemaTypes, id: string, { properties = {} }: Schema): string {
  const nameOfForm = (form: string) => `${id}By${form.replace(/Grant$/, '')}Input`
  const variants = Object.entries(grants).map(([form, { fixed, required, optional }]) => {
    const { grant_type: grant } = fixed
    const fields = [...required, ...optional].map(field => [field, properties[field] ?? {}])
    return types.interfaceOf(
      nameOfForm(form),
      `The input of ${id} with the grant \`${grant}\`.`,
      {
        properties: { grant_type: { const: grant }, ...Object.fromEntries(fields) },
        required: ['grant_type', ...required],
      },
      'input',
    )
  })
  const names = Object.keys(grants).map(nameOfForm).join(' | ')
  return [...variants, `${doc(`The input of ${id}, by grant.`)}export type ${id}Input = ${names}`].join(
    '\n\n',
  )
}

function answerType(types: SchemaTypes, { id, returns }: Operation): string[] {
  if (returns === undefined) return []
  const name = nameOf(returns)
  if (name === undefined) return [types.interfaceOf(`${id}Answer`, `The answer of ${id}.`, returns, 'answer')]
  types.typeOf(returns, 'answer')
  return [`${doc(`The answer of ${id}.`)}export type ${id}Answer = ${name}`]
}

function familyType(family: string, members: Readonly<Record<string, Operation>>): string {
  const methods = Object.entries(members)
    .filter(([, { answerLines }]) => answerLines === undefined)
    .map(([name, operation]) => `${doc(aboutOf(operation), 1)}  readonly ${name}: ${methodType(operation)}`)
  const about = `The operations under \`${family.toLowerCase()}\`.`
  return `${doc(about)}export interface ${family}Methods {\n${methods.join('\n')}\n}`
}

function aboutOf({ summary, description, access, method, path }: Operation): string {
  return [summary, description, `Token: ${accessInWords(access)}.`, `\`${method} ${path}\``]
    .filter(text => text !== undefined)
    .join('\n\n')
}

function methodType(operation: Operation): string {
  const { id, returns, answerFile, page, mayBeEmpty } = operation
  if (answerFile !== undefined) return `Method<${id}Input, string>`
  if (returns === undefined) return `Method<${id}Input, undefined>`
  const row = (returns as Schema).properties?.data?.items
  if (row === undefined || mayBeEmpty)
    return `Method<${id}Input, ${id}Answer${mayBeEmpty ? ' | undefined' : ''}>`
  const rowType = nameOf(row) ?? `${id}Answer['data'][number]`
  return `${kindOf(operation, page !== undefined)}<${id}Input, ${id}Answer, ${rowType}>`
}

function kindOf(operation: Operation, isPaged: boolean): string {
  if (operation === helixOperations.updateDropsEntitlements) return 'UpdateMethod'
  return isPaged ? 'ListMethod' : 'RowsMethod'
}

if (import.meta.main) writeClientTypes()
