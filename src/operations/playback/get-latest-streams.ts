import { getLatestStreams, MAX_LATEST } from '../../contract/playback/get-latest-streams.ts'
import { implement, preparedRows } from '../implement.ts'

export const handleGetLatestStreams = implement(
  getLatestStreams,
  async ({ query: { first = MAX_LATEST } }, { directory }) => {
    if (!directory.isComplete) await directory.complete()
    return preparedRows(directory.latest(first))
  },
  { isFromMemory: true },
)
