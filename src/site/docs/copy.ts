/** A button beside each example that copies its text. */
import { copyText } from '../scripts/copy-text.ts'

const SHOWN_MILLISECONDS = 2000

export function addCopyButtons(root: ParentNode): void {
  for (const example of root.querySelectorAll<HTMLElement>('.example')) {
    const caption = example.querySelector('figcaption')
    const text = () => example.querySelector('pre')?.textContent ?? ''
    caption?.append(copyButton(text, `Copy the ${caption.textContent?.toLowerCase()}`))
  }
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
