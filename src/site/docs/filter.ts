/** Shows the operations and events that have all the words, in the menu and in the text. */
export interface Filter {
  /** Returns how many there are. */
  show(wanted: string): number
}

interface Entry {
  readonly article: HTMLElement
  readonly row: HTMLElement | null
  readonly words: string
}

export function makeFilter(): Filter {
  const entries = [...document.querySelectorAll<HTMLElement>('.reference article')].map(entryOf)
  const groups = document.querySelectorAll<HTMLElement>('.menu .group, .family')
  return {
    show(wanted) {
      const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
      let count = 0
      for (const { article, row, words: known } of entries) {
        const isWanted = words.every(word => known.includes(word))
        article.hidden = !isWanted
        if (row !== null) row.hidden = !isWanted
        if (isWanted) count += 1
      }
      for (const group of groups)
        group.hidden = group.querySelector('li:not([hidden]), article:not([hidden])') === null
      return count
    },
  }
}

function entryOf(article: HTMLElement): Entry {
  const link = document.querySelector(`.menu a[href="#${CSS.escape(article.id)}"]`)
  return {
    article,
    row: link?.closest('li') ?? null,
    words: `${article.id} ${article.dataset.words}`.toLowerCase(),
  }
}
