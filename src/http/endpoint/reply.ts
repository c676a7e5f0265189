import type { TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import type { Operation } from '../../contract/operation.ts'
import { lazy } from '../../kit/lazy.ts'
import { RawJson } from '../../operations/implement.ts'

/** Serializes the answer of a handler. */
type Writer = (answer: unknown) => string

/**
 * Reduces an answer to the declared fields, so that nothing outside the contract is sent. (Prepared text is reduced where it
 * is prepared, and tests compare it with the contract.) The code is compiled to one object literal per shape, which the
 * runtime serializes several times faster than an object built field by field.
 */
export function createReplyWriter(operation: Operation, options: { checked: boolean }): Writer {
  const { returns } = operation
  if (returns === undefined) return () => ''
  const shape = lazy(() => compileShape(returns))
  const write: Writer = answer => (answer instanceof RawJson ? answer.text : JSON.stringify(shape()(answer)))
  if (!options.checked) return write
  const compiled = lazy(() => Compile(returns))
  return answer => {
    const text = write(answer)
    const parsed: unknown = JSON.parse(text)
    if (compiled().Check(parsed)) return text
    throw new Error(
      `the answer of ${operation.id} violates its contract: ${JSON.stringify(compiled().Errors(parsed)[1])}`,
    )
  }
}

function compileShape(schema: TSchema): (answer: unknown) => unknown {
  return new Function('value', `return ${shapeCode(schema, 'value', 0)}`) as (answer: unknown) => unknown
}

/** Code that reduces a value to its schema. Names come from the contract, never from input. */
function shapeCode(schema: TSchema, value: string, depth: number): string {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (items !== undefined) {
    const item = `item${depth}`
    const code = shapeCode(items, item, depth + 1)
    return code === item ? value : `${value}.map(${item} => (${code}))`
  }
  if (properties === undefined) return value
  const fields = Object.entries(properties).map(([name, property]) => {
    const field = `${value}[${JSON.stringify(name)}]`
    const code = shapeCode(property, field, depth + 1)
    return `${JSON.stringify(name)}: ${code === field ? field : `${field} === undefined ? undefined : ${code}`}`
  })
  return `({ ${fields.join(', ')} })`
}
