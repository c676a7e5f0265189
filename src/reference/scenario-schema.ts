import { Scenario } from '../contract/resources/scenario.ts'

/** The JSON Schema of scenario files, for completion and checks in editors. */
export function scenarioSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: "A scenario for Strand's demo",
    ...Scenario,
  }
}
