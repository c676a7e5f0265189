import { getLatestStreams, MAX_LATEST } from '../../contract/playback/get-latest-streams.ts'
import { implement, preparedRows } from '../implement.ts'

export const handleGetLatestStreams = implement(
  getLatestStreams,
  ({ query: { first = MAX_LATEST } }, { directory }) => preparedRows(directory.latest(first)),
)
