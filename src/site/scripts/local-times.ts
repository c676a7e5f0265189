import { lazy } from '../../kit/lazy.ts'

const exactly = lazy(
  () =>
    new Intl.DateTimeFormat(undefined, {
      weekday: 'short',
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    }),
)

/** The tooltips of times are in the time zone of the browser: written when a pointer comes, also to times that are added later. */
export function showLocalTimes(): void {
  document.addEventListener('pointerover', ({ target }) => {
    const time = target instanceof Element ? target.closest('time') : null
    const moment = Date.parse(time?.dateTime ?? '')
    if (time !== null && !Number.isNaN(moment)) time.title = exactly().format(moment)
  })
}
