import { Scenario } from '../contract/resources/scenario.ts'

/** The form of a scenario file, for editors that complete and check as one types. */
export function scenarioSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: "A scenario for Strand's demo",
    ...Scenario,
  }
}
