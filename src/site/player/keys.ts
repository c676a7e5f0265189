/** The keys of the player, as people know them from other players. */

export type KeyAction =
  | { readonly act: 'toggle' | 'mute' | 'fullscreen' | 'theatre' | 'picture' | 'keys' }
  | { readonly act: 'seek' | 'volume'; readonly by: number }
  | { readonly act: 'jump'; readonly share: number }

/** The list that `?` opens. */
export const KEY_LIST: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: ['k', 'Space'], does: 'Play or pause' },
  { keys: ['j', 'l'], does: '10 seconds back or forward' },
  { keys: ['←', '→'], does: '5 seconds back or forward' },
  { keys: ['0', '…', '9'], does: 'Jump to a tenth of the video' },
  { keys: ['↑', '↓'], does: 'Louder or quieter' },
  { keys: ['m'], does: 'Mute' },
  { keys: ['f'], does: 'Full screen' },
  { keys: ['t'], does: 'Theatre mode' },
  { keys: ['i'], does: 'Picture in picture' },
  { keys: ['?'], does: 'These keys' },
]

const ACTIONS: Readonly<Record<string, KeyAction>> = {
  k: { act: 'toggle' },
  ' ': { act: 'toggle' },
  m: { act: 'mute' },
  f: { act: 'fullscreen' },
  t: { act: 'theatre' },
  i: { act: 'picture' },
  '?': { act: 'keys' },
  j: { act: 'seek', by: -10 },
  l: { act: 'seek', by: 10 },
  arrowleft: { act: 'seek', by: -5 },
  arrowright: { act: 'seek', by: 5 },
  arrowup: { act: 'volume', by: 0.05 },
  arrowdown: { act: 'volume', by: -0.05 },
}

/** What has the focus, as far as it has a use for keys. `text`: fields to type into, and lists to choose from. */
export type FocusedKind = 'text' | 'slider' | 'button' | 'none'

/** What a key does; undefined if it belongs to what has the focus, or does nothing. */
export function findKeyAction(key: string, focused: FocusedKind): KeyAction | undefined {
  if (focused === 'text') return undefined
  if (focused === 'button' && key === ' ') return undefined
  if (focused === 'slider' && key.startsWith('Arrow')) return undefined
  if (/^[0-9]$/.test(key)) return { act: 'jump', share: Number(key) / 10 }
  const name = key.toLowerCase()
  return Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
}
