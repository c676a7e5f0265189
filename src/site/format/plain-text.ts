/** Whatever ends a line or has no shape, and the marks that reorder the text around them. */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Text that people wrote, on one line, for tabs, bookmarks and other sites: they show it beside text that it must not reorder. */
export function plainText(text: string, longest = Number.POSITIVE_INFINITY): string {
  const line = text.replace(DIRECTION, '').replace(UNSHOWN, ' ').trim()
  if (line.length <= longest) return line
  let kept = ''
  for (const { segment } of graphemes.segment(line)) {
    if (kept.length + segment.length >= longest) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}
