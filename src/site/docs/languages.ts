/** Chooses the language of all examples: at the top of the page, or beside any of them. The choice is remembered. */
import { LANGUAGE_COOKIE } from './language-cookie.ts'

const REMEMBERED_SECONDS = 365 * 24 * 3600

export function addLanguageButtons(): void {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('.languages input')]
  const buttons = new Map<HTMLButtonElement, HTMLInputElement>()
  for (const caption of document.querySelectorAll('.request figcaption')) {
    const group = document.createElement('span')
    group.className = 'choices'
    group.setAttribute('role', 'group')
    group.setAttribute('aria-label', 'Language')
    for (const input of inputs) {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = input.parentElement?.textContent ?? input.value
      buttons.set(button, input)
      group.append(button)
    }
    caption.append(group)
  }
  const show = () => {
    for (const [button, { checked }] of buttons) button.setAttribute('aria-pressed', String(checked))
  }
  show()
  for (const input of inputs)
    input.addEventListener('change', () => {
      show()
      // biome-ignore lint/suspicious/noDocumentCookie: the asynchronous interface is missing in Safari and over plain HTTP
      document.cookie = `${LANGUAGE_COOKIE}=${input.value}; Path=/docs; Max-Age=${REMEMBERED_SECONDS}; SameSite=Lax`
    })
  for (const [button, input] of buttons)
    button.addEventListener('click', () => keepInPlace(button, () => input.click()))
}

/** Examples above a button change their height as well; the page scrolls along. */
function keepInPlace(element: HTMLElement, change: () => void): void {
  const before = element.getBoundingClientRect().top
  change()
  scrollBy({ top: element.getBoundingClientRect().top - before, behavior: 'instant' })
}
