import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Operation } from '../contract/operation.ts'

type Shaper = (value: unknown) => unknown

/** Cuts an answer to the declared fields: what the contract does not list never leaves the house. */
export function createShaper(operation: Operation, options: { checked: boolean }): Shaper {
  if (operation.returns === undefined) return () => undefined
  const shape = shaper(operation.returns)
  if (!options.checked) return shape
  const compiled = Compile(operation.returns)
  return value => {
    const shaped = shape(value)
    if (compiled.Check(shaped)) return shaped
    throw new Error(
      `the answer of ${operation.id} breaks its contract: ${JSON.stringify([...compiled.Errors(shaped)])}`,
    )
  }
}

function shaper(schema: TSchema): Shaper {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (items !== undefined) {
    const shapeItem = shaper(items)
    return value => (value as unknown[]).map(shapeItem)
  }
  if (properties === undefined) return value => value
  const fields = Object.entries(properties).map(([name, property]) => [name, shaper(property)] as const)
  return value => {
    const shaped: Record<string, unknown> = {}
    for (const [name, shapeField] of fields) {
      const field = (value as Record<string, unknown>)[name]
      if (field !== undefined) shaped[name] = shapeField(field)
    }
    return shaped
  }
}
