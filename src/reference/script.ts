/** Adds a filter and highlights the current operation. The page is complete without it. */
export const SCRIPT = `
(() => {
  const rail = document.querySelector('.rail')
  const menu = document.querySelector('.menu')
  const field = document.getElementById('filter')
  const found = document.getElementById('found')
  const entries = [...document.querySelectorAll('article')].map(article => ({
    article,
    link: menu.querySelector('a[href="#' + article.id + '"]'),
    words: (article.id + ' ' + article.dataset.words).toLowerCase(),
  }))
  const groups = document.querySelectorAll('.group, .family')
  const narrow = matchMedia('(max-width: 60rem)')

  function filter() {
    const wanted = field.value.toLowerCase().split(/\\s+/).filter(Boolean)
    let count = 0
    for (const { article, link, words } of entries) {
      const isWanted = wanted.every(word => words.includes(word))
      article.hidden = link.parentElement.hidden = !isWanted
      if (isWanted) count += 1
    }
    for (const group of groups) group.hidden = !group.querySelector('li:not([hidden]), article:not([hidden])')
    found.textContent = wanted.length === 0 ? '' : count === 1 ? '1 result' : count + ' results'
  }

  function showTarget() {
    const entry = entries.find(each => '#' + each.article.id === location.hash)
    if (entry === undefined || !entry.article.hidden) return
    field.value = ''
    filter()
    entry.article.scrollIntoView()
  }

  field.addEventListener('input', () => {
    filter()
    if (!narrow.matches) entries.find(each => !each.article.hidden)?.article.scrollIntoView()
  })
  addEventListener('hashchange', showTarget)
  addEventListener('keydown', event => {
    if (event.key === '/' && document.activeElement !== field && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      menu.open = true
      field.focus()
    } else if (event.key === 'Escape' && document.activeElement === field) {
      field.value = ''
      filter()
    }
  })
  menu.addEventListener('click', event => {
    if (narrow.matches && event.target.closest('a')) menu.open = false
  })
  menu.open = !narrow.matches
  narrow.addEventListener('change', () => { menu.open = !narrow.matches })
  field.closest('.search').hidden = false

  function keepVisible(link) {
    const isVisible = link.offsetTop >= rail.scrollTop && link.offsetTop + 40 <= rail.scrollTop + rail.clientHeight
    if (!narrow.matches && !isVisible) rail.scrollTop = link.offsetTop - rail.clientHeight / 2
  }

  const watcher = new IntersectionObserver(changes => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) continue
      for (const { article, link } of entries) {
        if (article !== target) link.removeAttribute('aria-current')
        else {
          link.setAttribute('aria-current', 'true')
          keepVisible(link)
        }
      }
    }
  }, { rootMargin: '-10% 0px -80% 0px' })
  for (const { article } of entries) watcher.observe(article)
})()
`
