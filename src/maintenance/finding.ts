/** `ok` and `note` need no action; a `warning` should be checked; a `problem` must be fixed. */
export type Level = 'ok' | 'note' | 'warning' | 'problem'

/** The result of one check of the doctor. */
export interface Finding {
  readonly about: string
  readonly level: Level
  readonly message: string
  /** What to do about it. */
  readonly advice?: string
}

const finding = (level: Level) => (about: string, message: string, advice: string) => {
  return { about, level, message, advice }
}

export const ok = (about: string, message: string): Finding => ({ about, level: 'ok', message })
export const note: (about: string, message: string, advice: string) => Finding = finding('note')
export const warning: typeof note = finding('warning')
export const failure: typeof note = finding('problem')
