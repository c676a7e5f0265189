/** Buttons that copy examples, and headings that copy the link to what they name. */
import { copyText } from '../scripts/copy-text.ts'

const SHOWN_MILLISECONDS = 2000

export function addCopyButtons(root: ParentNode): void {
  for (const example of root.querySelectorAll<HTMLElement>('.example')) {
    const caption = example.querySelector('figcaption')
    const title = caption?.firstChild?.textContent ?? ''
    caption?.append(copyButton(() => shownText(example), `Copy the ${title.toLowerCase()}`))
  }
}

/** The text in the language that is shown. */
function shownText(example: HTMLElement): string {
  const shown = [...example.querySelectorAll('pre')].find(each => each.getClientRects().length > 0)
  return shown?.textContent ?? ''
}

function copyButton(text: () => string, label: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', label)
  button.addEventListener('click', async () => {
    button.textContent = await copyText(text()).then(
      () => 'Copied',
      () => 'Press Ctrl+C',
    )
    setTimeout(() => {
      button.textContent = 'Copy'
    }, SHOWN_MILLISECONDS)
  })
  return button
}

/** A heading is a link to itself; following it also copies it. */
export function copyFollowedLinks(): void {
  const status = document.createElement('p')
  status.className = 'hidden-text'
  status.setAttribute('role', 'status')
  const reference = document.querySelector('.reference')
  reference?.append(status)
  reference?.addEventListener('click', async event => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link?.matches(':is(h2, h3) > a') !== true) return
    const outcome = await copyText(link.href).then(
      () => 'Link copied',
      () => '',
    )
    if (outcome === '') return
    link.dataset.copied = ''
    status.textContent = outcome
    setTimeout(() => {
      delete link.dataset.copied
      status.textContent = ''
    }, SHOWN_MILLISECONDS)
  })
}
