import { isRefusal } from '../../../src/contract/problem.ts'
import { hexId } from '../../../src/kit/id.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite.ts'
import type { LeastOperation } from './operation.ts'

/** The same writer as Strand's, with its group commit and its command. */
export const createStreamMarker: LeastOperation = async ({ storeFile }) => {
  const engine = await openSqliteEngine(storeFile)
  return async (_search, caller, request) => {
    const { user_id, description } = (await request.json()) as { user_id: string; description: string }
    if (caller === undefined) throw new Error('a token is needed')
    const { result } = await engine.run('createMarker', {
      marker_id: hexId(),
      broadcaster_id: user_id,
      description,
      caller: { client_id: caller.client_id, user_id: caller.user_id },
      now: Date.now(),
    })
    if (isRefusal(result)) throw new Error(result.problem)
    return `{"data":[${JSON.stringify(result)}]}`
  }
}
