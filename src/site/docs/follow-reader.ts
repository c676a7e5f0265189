/** Keyboard, links and scrolling: the menu marks what is being read, and opens and closes where there is little space. */
interface FilterField {
  field(): HTMLInputElement | null
  clear(): void
}

/** Returns how to stop. */
export function followReader({ field, clear }: FilterField): () => void {
  const menu = document.querySelector('.menu')
  const opener = document.querySelector<HTMLDetailsElement>('.opener')
  const rail = document.querySelector<HTMLElement>('.rail')
  const narrow = matchMedia('(max-width: 60rem)')
  const ended = new AbortController()
  const { signal } = ended

  document.addEventListener(
    'keydown',
    event => {
      const input = field()
      if (event.key === 'Escape' && document.activeElement === input) return clear()
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

  const observer = new IntersectionObserver(
    changes => {
      const read = changes.find(({ isIntersecting }) => isIntersecting)?.target
      if (read === undefined) return
      for (const link of document.querySelectorAll('.menu a[aria-current]'))
        link.removeAttribute('aria-current')
      const link = document.querySelector<HTMLElement>(`.menu a[href="#${CSS.escape(read.id)}"]`)
      link?.setAttribute('aria-current', 'true')
      if (link !== null && rail !== null && !narrow.matches) keepVisible(link, rail)
    },
    { rootMargin: '-10% 0px -80% 0px' },
  )
  for (const article of document.querySelectorAll('.reference article')) observer.observe(article)
  return () => {
    ended.abort()
    observer.disconnect()
  }
}

const isTyping = () => document.activeElement?.matches('input, textarea, select, [contenteditable]') ?? false

/** Scrolls the rail, but not the page, if the link is out of sight. */
function keepVisible(link: HTMLElement, rail: HTMLElement): void {
  const top = link.getBoundingClientRect().top - rail.getBoundingClientRect().top
  if (top >= 0 && top + 40 <= rail.clientHeight) return
  rail.scrollTop += top - rail.clientHeight / 2
}
