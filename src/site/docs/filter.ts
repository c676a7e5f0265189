/** Shows the guides, operations and events that have all the words, in the menu and in the text. */
export interface Filter {
  /** Returns how many there are. */
  show(wanted: string): number
  /** The first of those that are shown. */
  first(): HTMLElement | undefined
}

export function makeFilter(): Filter {
  const entries = [...document.querySelectorAll<HTMLElement>('.reference [data-words]')].map(element => {
    const link = document.querySelector(`.menu a[href="#${CSS.escape(element.id)}"]`)
    const known = `${element.id} ${element.dataset.words}`.toLowerCase()
    return { element, row: link?.closest('li'), known }
  })
  const groups = document.querySelectorAll<HTMLElement>('.menu .group, .family')
  const folds = new Folds(document.querySelectorAll('.menu details.group'))
  return {
    show(wanted) {
      const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
      let count = 0
      for (const { element, row, known } of entries) {
        const isWanted = words.every(word => known.includes(word))
        element.hidden = !isWanted
        if (row) row.hidden = !isWanted
        if (isWanted) count += 1
      }
      for (const group of groups)
        group.hidden = group.querySelector('li:not([hidden], .overview), article:not([hidden])') === null
      folds.unfold(words.length > 0)
      return count
    },
    first: () => entries.find(({ element }) => !element.hidden)?.element,
  }
}

/** While there is a filter, no result is folded away. */
class Folds {
  readonly #folds: Iterable<HTMLDetailsElement>
  /** Those that were open before; undefined: there is no filter. */
  #open: Set<HTMLDetailsElement> | undefined

  constructor(folds: Iterable<HTMLDetailsElement>) {
    this.#folds = folds
  }

  unfold(isFiltered: boolean): void {
    if (isFiltered) this.#open ??= new Set([...this.#folds].filter(({ open }) => open))
    for (const fold of this.#folds) {
      if (isFiltered) fold.open = true
      else if (this.#open !== undefined) fold.open = this.#open.has(fold)
    }
    if (!isFiltered) this.#open = undefined
  }
}
