import { Scenario } from '../resources/scenario.ts'
import { Schemas } from './openapi/schemas.ts'

/** The JSON Schema of scenario files, for completion and checks in editors. */
export function scenarioSchema(): object {
  const schemas = new Schemas('#/$defs/')
  const schema = schemas.use(Scenario)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: "A scenario for Strand's demo",
    ...schema,
    $defs: schemas.named,
  }
}
