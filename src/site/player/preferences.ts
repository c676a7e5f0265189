/** What a viewer has chosen, for the next video too. */

export interface Preferences {
  /** 0 to 1. */
  readonly volume: number
  readonly isMuted: boolean
  readonly isTheatre: boolean
}

const NAME = 'strand-player'
const DEFAULTS: Preferences = { volume: 1, isMuted: false, isTheatre: false }

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem'>

/** The defaults, where nothing is stored, or nothing may be. */
export function readPreferences(storage: () => Storage = () => localStorage): Preferences {
  try {
    const stored: Partial<Record<keyof Preferences, unknown>> | null = JSON.parse(
      storage().getItem(NAME) ?? '{}',
    )
    const { volume, isMuted, isTheatre } = stored ?? {}
    return {
      volume: typeof volume === 'number' && volume >= 0 && volume <= 1 ? volume : DEFAULTS.volume,
      isMuted: isMuted === true,
      isTheatre: isTheatre === true,
    }
  } catch {
    return DEFAULTS
  }
}

export function changePreferences(
  changes: Partial<Preferences>,
  storage: () => Storage = () => localStorage,
): void {
  try {
    storage().setItem(NAME, JSON.stringify({ ...readPreferences(storage), ...changes }))
  } catch {
    // A browser may allow no storage: then the choice is for this page.
  }
}
