/** The scenario is invalid; the message begins with the JSON path of the error. */
export class InvalidScenario extends Error {
  override readonly name = 'InvalidScenario'
}
