import type { Window } from '../contract/page.ts'
import { pointIn, type WalkPage } from '../directory/stream-page.ts'
import type { Services } from './implement.ts'

/** Cuts a page of the directory, after loading the point in history where the walk began if the directory lacks it. */
export function cutAlongWalk<Row>(
  { directory, history }: Pick<Services, 'directory' | 'history'>,
  window: Window,
  cut: () => WalkPage<Row>,
): WalkPage<Row> | Promise<WalkPage<Row>> {
  const point = pointIn(window)
  return point === undefined || directory.knows(point) ? cut() : history.reach(point).then(cut)
}
