/** Who reads the reference, and what decides which requests can be tried. */
export interface Reader {
  /** Null: not logged in. */
  readonly user: { readonly id: string; readonly login: string; readonly name: string } | null
  readonly isStrict: boolean
}
