import type { Store } from '../store/store.ts'

/** Folds all names that a store of an earlier version, or a node of one, has left for this version to fold. */
export async function foldMissingNames({ commands }: Store, wantsToStop: () => boolean): Promise<void> {
  while (!wantsToStop() && (await commands.foldNames({})) > 0) await Bun.sleep(0)
}
