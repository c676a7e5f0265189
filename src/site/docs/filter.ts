/** Shows the operations and events that have all the words, in the menu and in the text. Returns how many there are. */
export type Filter = (wanted: string) => number

export function makeFilter(): Filter {
  const entries = [...document.querySelectorAll<HTMLElement>('.reference article')].map(article => {
    const link = document.querySelector(`.menu a[href="#${CSS.escape(article.id)}"]`)
    const known = `${article.id} ${article.dataset.words}`.toLowerCase()
    return { article, row: link?.closest('li'), known }
  })
  const groups = document.querySelectorAll<HTMLElement>('.menu .group, .family')
  return wanted => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
    let count = 0
    for (const { article, row, known } of entries) {
      const isWanted = words.every(word => known.includes(word))
      article.hidden = !isWanted
      if (row) row.hidden = !isWanted
      if (isWanted) count += 1
    }
    for (const group of groups)
      group.hidden = group.querySelector('li:not([hidden]), article:not([hidden])') === null
    return count
  }
}
