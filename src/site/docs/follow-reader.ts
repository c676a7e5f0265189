/** Keyboard, links and scrolling: the menu marks what is being read, and opens and closes where there is little space. */
interface FilterField {
  field(): HTMLInputElement | null
  clear(): void
  /** What the filter shows first. */
  first(): HTMLElement | undefined
}

/** Returns how to stop. */
export function followReader({ field, clear, first }: FilterField): () => void {
  const menu = document.querySelector('.menu')
  const opener = document.querySelector<HTMLDetailsElement>('.opener')
  const rail = document.querySelector<HTMLElement>('.rail')
  const narrow = matchMedia('(max-width: 60rem)')
  const ended = new AbortController()
  const { signal } = ended

  const openFirst = () => {
    const found = first()
    if (found === undefined) return
    if (opener !== null) opener.open = false
    location.hash = found.id
    // The address may have named it before.
    found.scrollIntoView()
    found.querySelector<HTMLElement>('a')?.focus({ preventScroll: true })
  }

  document.addEventListener(
    'keydown',
    event => {
      const input = field()
      if (event.key === 'Escape' && document.activeElement === input) return clear()
      if (event.key === 'Enter' && document.activeElement === input) return openFirst()
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping()) return
      event.preventDefault()
      if (opener !== null) opener.open = true
      input?.focus()
    },
    { signal },
  )
  menu?.addEventListener(
    'click',
    event => {
      if (opener !== null && event.target instanceof Element && event.target.closest('a')) opener.open = false
    },
    { signal },
  )
  // What a link leads to may be hidden by the filter.
  addEventListener(
    'hashchange',
    () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
      if (target?.closest('[hidden]') == null) return
      clear()
      requestAnimationFrame(() => target.scrollIntoView())
    },
    { signal },
  )

  const place = new Place(rail)
  const entries = [...document.querySelectorAll('.reference [data-words]')]
  /** What lies where people read. A change of the filter can bring several entries there, and take some away again. */
  const inSight = new Set<Element>()
  const observer = new IntersectionObserver(
    changes => {
      for (const { target, isIntersecting } of changes)
        if (isIntersecting) inSight.add(target)
        else inSight.delete(target)
      const read = entries.find(entry => inSight.has(entry))
      if (read !== undefined) place.mark(read.id, narrow.matches)
    },
    { rootMargin: '-10% 0px -80% 0px' },
  )
  for (const entry of entries) observer.observe(entry)
  return () => {
    ended.abort()
    observer.disconnect()
  }
}

const isTyping = () => document.activeElement?.matches('input, textarea, select, [contenteditable]') ?? false

/** Where the reader is, as the menu shows it. */
class Place {
  readonly #rail: HTMLElement | null
  readonly #here = document.querySelector('.opener .here')
  /** The group that was unfolded to show it. */
  #unfolded: HTMLDetailsElement | undefined

  constructor(rail: HTMLElement | null) {
    this.#rail = rail
  }

  mark(id: string, isNarrow: boolean): void {
    for (const link of document.querySelectorAll('.menu a[aria-current]'))
      link.removeAttribute('aria-current')
    const link = document.querySelector<HTMLElement>(`.menu a[href="#${CSS.escape(id)}"]`)
    link?.setAttribute('aria-current', 'true')
    if (this.#here !== null) this.#here.textContent = id
    if (link === null) return
    this.#unfold(link)
    if (this.#rail !== null && !isNarrow) keepVisible(link, this.#rail)
  }

  #unfold(link: HTMLElement): void {
    const fold = link.closest('details')
    if (this.#unfolded !== undefined && this.#unfolded !== fold) {
      this.#unfolded.open = false
      this.#unfolded = undefined
    }
    if (fold === null || fold.open) return
    fold.open = true
    this.#unfolded = fold
  }
}

/** Scrolls the rail, but not the page, if the link is out of sight. */
function keepVisible(link: HTMLElement, rail: HTMLElement): void {
  const top = link.getBoundingClientRect().top - rail.getBoundingClientRect().top
  if (top >= 0 && top + 40 <= rail.clientHeight) return
  rail.scrollTop += top - rail.clientHeight / 2
}
