/** @jsxRuntime automatic @jsxImportSource preact */
/** The icons of the site: one set, of 24 by 24, drawn with lines of 2 and round ends in the current colour. Some have a filled part. */
import { STROKES } from '../../kit/mark.ts'

/** The logo beside the name. */
export const Mark = () => (
  <svg
    class="mark"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2.4"
    stroke-linecap="round"
    aria-hidden="true"
    dangerouslySetInnerHTML={{ __html: STROKES }}
  />
)

/** The paths of an icon. */
interface Shape {
  readonly lines?: string
  readonly filled?: string
}

/** The name is a class, for icons that are shown in turn. */
export const Icon = ({ shape, name }: { shape: Shape; name?: string }) => (
  <svg class={name === undefined ? 'icon' : `icon ${name}`} viewBox="0 0 24 24" aria-hidden="true">
    {shape.filled !== undefined && <path class="filled" d={shape.filled} />}
    {shape.lines !== undefined && <path d={shape.lines} />}
  </svg>
)

/** Beside what opens a list. Style sheets turn it. */
export const Chevron = () => <Icon shape={CHEVRON} name="chevron" />

const CHEVRON: Shape = { lines: 'm6 9.5 6 6 6-6' }
export const SEARCH: Shape = { lines: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4' }
export const MENU: Shape = { lines: 'M4 7h16M4 12h16M4 17h16' }
export const CLOSE: Shape = { lines: 'm6 6 12 12m0-12L6 18' }
export const CHECK: Shape = { lines: 'm5 12.5 4.5 4.5L19 7.5' }
export const SHARE: Shape = { lines: 'M12 15V4M8 8l4-4 4 4M5 13v6h14v-6' }

const HEART_LINE =
  'M12 20 4.8 12.7a4.7 4.7 0 0 1 0-6.6 4.6 4.6 0 0 1 6.5 0l.7.7.7-.7a4.6 4.6 0 0 1 6.5 0 4.7 4.7 0 0 1 0 6.6z'
export const HEART: Shape = { lines: HEART_LINE }
export const FULL_HEART: Shape = { lines: HEART_LINE, filled: HEART_LINE }

export const PLAY: Shape = {
  filled: 'M8 5.2v13.6a.8.8 0 0 0 1.22.68l11-6.8a.8.8 0 0 0 0-1.36l-11-6.8A.8.8 0 0 0 8 5.2z',
}
export const PAUSE: Shape = {
  filled:
    'M7.5 5h2a.8.8 0 0 1 .8.8v12.4a.8.8 0 0 1-.8.8h-2a.8.8 0 0 1-.8-.8V5.8a.8.8 0 0 1 .8-.8zM14.5 5h2a.8.8 0 0 1 .8.8v12.4a.8.8 0 0 1-.8.8h-2a.8.8 0 0 1-.8-.8V5.8a.8.8 0 0 1 .8-.8z',
}
const SPEAKER =
  'M4.6 9.2a.6.6 0 0 0-.6.6v4.4c0 .33.27.6.6.6h2.6l3.8 4a.6.6 0 0 0 1-.42V5.62a.6.6 0 0 0-1-.42l-3.8 4z'
export const SOUND: Shape = {
  filled: SPEAKER,
  lines: 'M15.5 9.2a4 4 0 0 1 0 5.6M18.2 6.6a7.6 7.6 0 0 1 0 10.8',
}
export const SILENCE: Shape = { filled: SPEAKER, lines: 'm15.5 9.5 5 5m0-5-5 5' }
export const ENLARGE: Shape = { lines: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5' }
export const REDUCE: Shape = { lines: 'M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5' }
export const WIDE: Shape = { lines: 'M2.5 7h19v10h-19z' }
export const NARROW: Shape = { lines: 'M6 8h12v8H6z' }
export const SMALL_PICTURE: Shape = { lines: 'M20.5 10V5h-17v14H10', filled: 'M13 13h8.5v6H13z' }
export const KEYBOARD: Shape = {
  lines: 'M3 7h18v10H3zM7 10.5h.01M10.3 10.5h.01M13.7 10.5h.01M17 10.5h.01M8 14h8',
}
