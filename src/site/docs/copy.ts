/** A button beside each example that copies its text. */
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
    const isCopied = await copy(text())
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, SHOWN_MILLISECONDS)
  })
  return button
}

/** Over plain HTTP, browsers offer the clipboard only on localhost. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
