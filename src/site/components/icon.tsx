/** @jsxRuntime automatic @jsxImportSource preact */
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

/** An icon of 24 by 24, drawn with the current colour: filled, or with lines. */
export const Icon = ({ path, lines = false }: { path: string; lines?: boolean }) => (
  <svg
    viewBox="0 0 24 24"
    aria-hidden="true"
    {...(lines
      ? {
          fill: 'none',
          stroke: 'currentColor',
          'stroke-width': '2',
          'stroke-linecap': 'round',
          'stroke-linejoin': 'round',
        }
      : { fill: 'currentColor' })}
  >
    <path d={path} />
  </svg>
)

export const SEARCH_ICON = 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4'
