/** As `strand doctor` reports it. */
export interface DoctorFinding {
  readonly about: string
  readonly level: 'ok' | 'note' | 'warning' | 'problem'
  readonly message: string
  readonly advice?: string
}
