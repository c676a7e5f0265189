import { clockTime } from '../../kit/clock-time.ts'

/**
 * The page that is open, as the server has it now. The server renders title, game and viewers anyway, so the script reads
 * them from there: there is one place that decides what a page shows, and no other API for it.
 */
const REFRESH_MILLISECONDS = 20_000

export type ChannelState = 'live' | 'offline' | 'unknown'

/** Whether the channel is live; replaces the parts of the page that have changed. */
export async function refreshPage(): Promise<ChannelState> {
  try {
    const response = await fetch(location.pathname, { headers: { Accept: 'text/html' } })
    if (!response.ok) return response.status === 404 ? 'offline' : 'unknown'
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    for (const part of document.querySelectorAll<HTMLElement>('[data-fresh]')) {
      const fresh = page.querySelector(`[data-fresh="${part.dataset.fresh}"]`)
      if (fresh !== null && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes)
    }
    return page.querySelector('[data-player]') === null ? 'offline' : 'live'
  } catch {
    return 'unknown'
  }
}

export function keepFresh(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') void refreshPage()
  }, REFRESH_MILLISECONDS)
  setInterval(countUp, 1000)
}

/** Shows how long ago the times with `data-since` were. */
function countUp(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-since]')) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(element.dataset.since ?? '')) / 1000))
    element.textContent = clockTime(seconds)
  }
}
