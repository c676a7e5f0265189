/** Three strands twisted into one, as the paths of an SVG of 24 by 24. */
export const STROKES =
  '<path d="M5 3c0 6 14 6 14 12 0 3-2 5-4 6"/><path d="M12 3c0 5-7 6-7 12 0 3 2 5 4 6"/><path d="M19 3c0 3-2 4.500-4 6"/>'

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#6366f1" stroke-width="2.8" stroke-linecap="round">${STROKES}</svg>`

/** The logo as a data URL. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`
