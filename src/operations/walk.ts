import type { Window } from '../contract/page.ts'
import { pointIn, type StreamPage } from '../directory/stream-page.ts'
import type { Services } from './implement.ts'

/** Cuts a page of the directory; first makes sure that the directory knows the point where the walk began. */
export function cutAlongWalk(
  { directory, history }: Services,
  window: Window,
  cut: () => StreamPage,
): StreamPage | Promise<StreamPage> {
  const point = pointIn(window)
  return point === undefined || directory.knows(point) ? cut() : history.reach(point).then(cut)
}
