/** `ok` and `note` need no action; a `warning` should be looked at; a `problem` needs to be solved. */
export type Level = 'ok' | 'note' | 'warning' | 'problem'

/** The result of one check of the doctor. */
export interface Finding {
  readonly about: string
  readonly level: Level
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

const finding = (level: Level) => (about: string, says: string, advice: string) => {
  return { about, level, says, advice }
}

export const ok = (about: string, says: string): Finding => ({ about, level: 'ok', says })
export const note: (about: string, says: string, advice: string) => Finding = finding('note')
export const warning: typeof note = finding('warning')
export const failure: typeof note = finding('problem')
