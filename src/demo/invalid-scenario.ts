/** The scenario is not one; the message is a sentence that begins with the place, as a JSON path. */
export class InvalidScenario extends Error {
  override readonly name = 'BadScenario'
}
