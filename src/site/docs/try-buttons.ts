/** A button beside each operation that opens its form. The code of the forms comes with the first one. */
import type { Reader } from './reader.ts'

export function addTryButtons(reader: Reader): void {
  for (const article of document.querySelectorAll<HTMLElement>('article[data-operation]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'try-button'
    button.textContent = 'Try it'
    button.setAttribute('aria-expanded', 'false')
    button.setAttribute('aria-label', `Try it: ${article.id}`)
    let panel: HTMLElement | undefined
    button.addEventListener('click', async () => {
      const isOpen = button.getAttribute('aria-expanded') === 'true'
      button.setAttribute('aria-expanded', String(!isOpen))
      if (panel !== undefined) {
        panel.hidden = isOpen
        return
      }
      panel = document.createElement('section')
      panel.className = 'try'
      panel.setAttribute('aria-label', `Try ${article.id}`)
      article.querySelector('header')?.after(panel)
      const { showForm } = await import('./try-it.tsx')
      showForm(panel, article.id, reader)
    })
    article.querySelector('header')?.append(button)
  }
}
