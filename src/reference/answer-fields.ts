import type { TSchema } from 'typebox'
import { typeInWords } from './markdown.ts'

/** A field of an answer, named by its path, such as `data[].user_id`. */
export interface AnswerField {
  readonly name: string
  readonly type: string
  readonly notes: string
  readonly optional: boolean
}

type Shape = TSchema & {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
  readonly description?: string
}

/** All fields of an answer; nested fields follow the one that contains them. */
export function answerFields(schema: TSchema, prefix = ''): AnswerField[] {
  const { properties = {}, required = [] } = schema as Shape
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description = '' } = field as Shape
    const fullName = prefix + name
    const row = {
      name: fullName,
      type: answerType(field),
      notes: description,
      optional: !required.includes(name),
    }
    return [row, ...answerFields(innermost(field), `${fullName}${depthMark(field)}.`)]
  })
}

function answerType(schema: TSchema): string {
  const { items, anyOf, properties } = schema as Shape
  if (items !== undefined) return `array of ${answerType(items)}`
  if (anyOf !== undefined) return anyOf.map(answerType).join(' or ')
  return properties === undefined ? typeInWords(schema) : 'object'
}

function innermost(schema: TSchema): TSchema {
  const { items } = schema as Shape
  return items === undefined ? schema : innermost(items)
}

function depthMark(schema: TSchema): string {
  const { items } = schema as Shape
  return items === undefined ? '' : `[]${depthMark(items)}`
}
