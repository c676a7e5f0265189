/** @jsxRuntime automatic @jsxImportSource preact */
/**
 * Keeps a page of the console up to date: it reads the page again and puts what has changed in place. Rows that are the same
 * stay the same elements, so focus and selection survive. Also the keys: `/` searches, `j` and `k` walk along the rows.
 */
import { useEffect, useState } from 'preact/hooks'
import { island } from '../scripts/island.tsx'

interface LiveProps {
  readonly seconds: number
}

type State = 'still' | 'live' | 'paused' | 'ended' | 'away'

const TEXTS: Readonly<Record<Exclude<State, 'still'>, string>> = {
  live: 'Live',
  paused: 'Paused',
  ended: 'Logged out',
  away: 'No answer',
}

export const ConsoleLive = island('console-live', function ConsoleLive({ seconds }: LiveProps) {
  const [state, setState] = useState<State>('still')
  useEffect(() => setState('live'), [])
  useEffect(() => walkWithKeys(), [])
  const isRunning = state === 'live' || state === 'away'
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh().then(setState, () => setState('away'))
    }, seconds * 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  if (state === 'still') return null
  if (state === 'ended')
    return (
      <a class="button" href={location.href}>
        {TEXTS.ended}: log in
      </a>
    )
  return (
    <button
      type="button"
      class={`live-state is-${state}`}
      aria-pressed={state !== 'paused'}
      title="Whether this page is kept up to date"
      onClick={() => setState(state === 'paused' ? 'live' : 'paused')}
    >
      {TEXTS[state]}
    </button>
  )
})

async function refresh(): Promise<State> {
  const response = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!response.ok) return 'away'
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.querySelectorAll<HTMLElement>('[data-live]')
  if (fresh.length === 0) return 'ended'
  for (const part of fresh) {
    const old = document.querySelector(`[data-live="${part.dataset.live}"]`)
    if (old !== null) update(old, part)
  }
  return 'live'
}

/** Makes an element look like a fresh one, and touches only what differs. */
function update(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh)) return
  const [mine, theirs] = [old.childNodes, fresh.childNodes]
  const isSameShape =
    mine.length === theirs.length &&
    Array.from(mine).every(
      (node, index) => node.nodeName === theirs[index]?.nodeName && nodeKey(node) === nodeKey(theirs[index]),
    )
  if (!isSameShape) {
    old.replaceChildren(...arranged(old, fresh))
    return
  }
  copyAttributes(old, fresh)
  for (const [index, node] of Array.from(mine).entries()) {
    const other = theirs[index]
    if (node instanceof Element && other instanceof Element) update(node, other)
    else if (other !== undefined && node.nodeValue !== other.nodeValue) node.nodeValue = other.nodeValue
  }
}

/** The children as they should be; those with a known key are the old ones. */
function arranged(old: Element, fresh: Element): Node[] {
  const known = new Map(Array.from(old.children, child => [nodeKey(child), child]))
  return Array.from(fresh.childNodes, child => {
    const before = nodeKey(child) === undefined ? undefined : known.get(nodeKey(child))
    if (before === undefined || !(child instanceof Element)) return document.importNode(child, true)
    update(before, child)
    return before
  })
}

const nodeKey = (node: Node | undefined): string | undefined =>
  node instanceof HTMLElement ? node.dataset.key : undefined

function copyAttributes(old: Element, fresh: Element): void {
  for (const { name } of Array.from(old.attributes)) if (!fresh.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of Array.from(fresh.attributes))
    if (old.getAttribute(name) !== value) old.setAttribute(name, value)
}

function walkWithKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const { target, key } = event
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    if (key === '/') {
      event.preventDefault()
      document.querySelector<HTMLInputElement>('.search input')?.focus()
    }
    if (key !== 'j' && key !== 'k') return
    const links = [...document.querySelectorAll<HTMLElement>('.row-link')]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[Math.max(0, Math.min(links.length - 1, at + (key === 'j' ? 1 : -1)))]?.focus()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}
