/** `ok` and `note` need nothing to be done; a `warning` should be looked at; a `problem` is one. */
export type Level = 'ok' | 'note' | 'warning' | 'problem'

/** One thing that the doctor looked at. */
export interface Finding {
  readonly about: string
  readonly level: Level
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

export const ok = (about: string, says: string): Finding => ({ about, level: 'ok', says })

export const note = (about: string, says: string, advice: string): Finding => ({
  about,
  level: 'note',
  says,
  advice,
})

export const warning = (about: string, says: string, advice: string): Finding => ({
  about,
  level: 'warning',
  says,
  advice,
})

export const failure = (about: string, says: string, advice: string): Finding => ({
  about,
  level: 'problem',
  says,
  advice,
})
