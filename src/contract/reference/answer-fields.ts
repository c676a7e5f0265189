import type { JsonSchema } from '../schema.ts'
import { typeInWords } from './markdown.ts'

/** A field of an answer, named by its path, such as `data[].user_id`. */
export interface AnswerField {
  readonly name: string
  readonly type: string
  readonly notes: string
  readonly optional: boolean
}

/** All fields of an answer; nested fields follow the one that contains them. */
export function answerFields(schema: object, prefix = ''): AnswerField[] {
  const { properties = {}, required = [] } = schema as JsonSchema
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description = '' } = field as JsonSchema
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

function answerType(schema: object): string {
  const { items, anyOf, properties } = schema as JsonSchema
  if (items !== undefined) return `array of ${answerType(items)}`
  if (anyOf !== undefined) return anyOf.map(answerType).join(' or ')
  return properties === undefined ? typeInWords(schema) : 'object'
}

function innermost(schema: object): object {
  const { items } = schema as JsonSchema
  return items === undefined ? schema : innermost(items)
}

function depthMark(schema: object): string {
  const { items } = schema as JsonSchema
  return items === undefined ? '' : `[]${depthMark(items)}`
}
