/** Copies the links of a page, and keeps the one to what is shown now. */
import { clockTime } from '../../kit/time/clock-time.ts'

const SHOWN_MILLISECONDS = 2000

/** @param position in the video, in seconds */
export function startSharing(position: () => number): void {
  const menu = document.getElementById('share')
  const moment = document.querySelector<HTMLInputElement>('#share-moment')
  menu?.addEventListener('toggle', () => {
    if (moment === null) return
    const seconds = Math.floor(position())
    moment.value = moment.value.replace(/\d+s$/, `${seconds}s`)
    const field = moment.closest<HTMLElement>('.field')
    if (field === null) return
    field.hidden = seconds === 0
    const shown = field.querySelector('.num')
    if (shown !== null) shown.textContent = clockTime(seconds)
  })
  for (const input of menu?.querySelectorAll('input') ?? []) startCopying(input)
}

/** Over plain HTTP, browsers offer the clipboard only to a selection. */
function startCopying(input: HTMLInputElement): void {
  const button = input.nextElementSibling as HTMLButtonElement
  const word = button.firstElementChild as HTMLElement
  button.hidden = false
  button.onclick = async () => {
    input.select()
    const copy = () => document.execCommand('copy')
    if (navigator.clipboard === undefined) copy()
    else await navigator.clipboard.writeText(input.value).catch(copy)
    word.textContent = 'Copied'
    setTimeout(() => {
      word.textContent = 'Copy'
    }, SHOWN_MILLISECONDS)
  }
}
