import type { PageRequest } from '../contract/page.ts'
import type { Directory } from '../directory/directory.ts'
import { pointIn, type WalkPage } from '../directory/stream-page.ts'
import type { Rank } from '../domain/ranking.ts'
import type { Services } from './implement.ts'

type Walked = Pick<Services, 'directory' | 'history'>

/** Whether a page depends on the details of the streams that it shows, or on those of all. */
type Needs = 'shown' | 'all'

/** Whether a page can be cut now: the directory has all details, and the point in history where the walk began. */
export function canCut(directory: Directory, window: PageRequest): boolean {
  const point = pointIn(window)
  return directory.isComplete && (point === undefined || directory.knows(point))
}

/** Cuts a page of the directory, after loading the point in history where the walk began if the directory lacks it. */
export async function cutAlongWalk<Row extends Rank>(
  { directory, history }: Walked,
  window: PageRequest,
  needs: Needs,
  cut: () => WalkPage<Row>,
): Promise<WalkPage<Row>> {
  if (needs === 'all' && !directory.isComplete) await directory.complete()
  const point = pointIn(window)
  if (point !== undefined && !directory.knows(point)) await history.reach(point)
  return directory.isComplete ? cut() : directory.completePage(cut)
}
