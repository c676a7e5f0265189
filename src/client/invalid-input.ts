/** An input that the client does not send: it has an undeclared name, or no place in the path. */
export class InvalidInput extends TypeError {
  /** Its name. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}
