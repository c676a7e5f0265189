/**
 * Colours JSON as it comes into view. It marks ranges of text instead of adding elements, so the page stays small; a browser
 * that cannot do that shows plain text.
 */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\b(?:true|false|null)\b/gi
const MAX_CHARACTERS = 20_000

/** Marks the code below an element. */
export function highlight(root: ParentNode): void {
  if (!('highlights' in CSS)) return
  const observer = new IntersectionObserver(
    changes => {
      for (const { target, isIntersecting } of changes) {
        if (!isIntersecting) continue
        observer.unobserve(target)
        mark(target.firstChild)
      }
    },
    { rootMargin: '400px' },
  )
  for (const code of root.querySelectorAll('.example code')) observer.observe(code)
}

function mark(text: ChildNode | null): void {
  if (!(text instanceof Text) || text.length > MAX_CHARACTERS || !/^\s*[[{]/.test(text.data)) return
  for (const { 0: all, 1: quoted, 2: colon, index } of text.data.matchAll(TOKEN)) {
    const range = new Range()
    range.setStart(text, index)
    range.setEnd(text, index + (quoted ?? all).length)
    const kind = quoted === undefined ? 'json-number' : colon === undefined ? 'json-text' : 'json-name'
    chooseHighlight(kind).add(range)
  }
}

function chooseHighlight(kind: string): Highlight {
  const known = CSS.highlights.get(kind) ?? new Highlight()
  CSS.highlights.set(kind, known)
  return known
}
