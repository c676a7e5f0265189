import {
  fieldsOf,
  noteOf,
  referencesOf,
  TRANSFER_TYPES,
  type TransferType,
} from '../../contract/resources/transfer.ts'
import { type Scalar, verbatim } from '../sql/tag.ts'
import { marker, stream, video } from './broadcasts.ts'
import { channel, editor, follow } from './channels.ts'
import { entitlement } from './entitlements.ts'
import { claimOf, hasValues, putRows, type TransferResource } from './resource.ts'
import { streamKey } from './stream-keys.ts'
import { benefit, client, game, member, organization, user } from './world.ts'

const DECLARED: { readonly [T in TransferType]: TransferResource<T> } = {
  organization,
  user,
  member,
  game,
  benefit,
  client,
  channel,
  stream_key: streamKey,
  editor,
  follow,
  video,
  stream,
  marker,
  entitlement,
}

type Row = Readonly<Record<string, Scalar>>

/** Converts columns stored differently from the field: booleans as 1 and 0, JSON as text, null for a missing secret. */
const DECODERS: Readonly<Record<string, (value: Scalar) => unknown>> = {
  boolean: value => (value === null ? undefined : value === 1),
  array: value => JSON.parse(String(value)),
  secret: value => value ?? undefined,
}

/** A declaration completed with its defaults and with what the schema of the line adds. */
function complete(type: TransferType) {
  const declared = DECLARED[type] as TransferResource<TransferType>
  const { table, key = ['id'], order = key, fixed, defaults } = declared
  const [first = '', second] = key
  const keyOf = (line: object): string => {
    const values = line as Row
    return second === undefined ? String(values[first]) : `${values[first]} ${values[second]}`
  }
  const fields = Object.keys(fieldsOf(type)).filter(field => field !== 'type')
  const rowOf = ({ line, row }: { readonly line: object; readonly row: object | undefined }): Row => {
    const [given, stored] = [line as Row, row as Row | undefined]
    const values: Record<string, Scalar> = {}
    for (const field of fields)
      values[field] = (field in given ? given[field] : (stored?.[field] ?? defaults?.[field])) ?? null
    return values
  }
  return {
    select: verbatim(`select ${fields.join(', ')} from ${table}`),
    claims: (line: object) => (second === undefined ? [claimOf(type, keyOf(line))] : []),
    isCurrent: (row: object, line: object) => hasValues(type, row, line),
    putAll: ((tx, changes) =>
      putRows(tx, table, changes, rowOf, [...key, ...(fixed?.fields ?? [])])) as NonNullable<
      typeof declared.putAll
    >,
    ...declared,
    key,
    order,
    keyOf,
    /** Commands lock their rows, and of a pair only the time changes, whatever it was. */
    locks: declared.putEach === undefined && second === undefined,
    references: referencesOf(type),
    decoders: Object.entries(fieldsOf(type)).flatMap(([field, schema]) => {
      const { type: kind = '' } = schema as { readonly type?: string }
      const declaredOne = declared.decoders?.[field]
      if (declaredOne !== undefined) return [[field, declaredOne] as const]
      const decode = DECODERS[noteOf(schema, 'secret') === undefined ? kind : 'secret']
      return decode === undefined ? [] : [[field, decode] as const]
    }),
  }
}

type Completed = ReturnType<typeof complete>

export const RESOURCES = Object.fromEntries(TRANSFER_TYPES.map(type => [type, complete(type)])) as Readonly<
  Record<TransferType, Completed>
>
