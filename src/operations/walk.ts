import type { Window } from '../contract/page.ts'
import { pointIn, type StreamPage } from '../directory/directory.ts'
import type { Eventual } from '../kit/eventual.ts'
import type { Rooms } from './implement.ts'

/** Cuts a page of the directory; first makes sure that the directory knows the point where the walk began. */
export function cutAlongWalk(
  { directory, history }: Rooms,
  window: Window,
  cut: () => StreamPage,
): Eventual<StreamPage> {
  const point = pointIn(window)
  return point === undefined || directory.knows(point) ? cut() : history.reach(point).then(cut)
}
