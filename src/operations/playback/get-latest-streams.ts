import { getLatestStreams } from '../../contract/playback/get-latest-streams.ts'
import { implement, preparedRows } from '../implement.ts'

const STANDARD = 20
/** Looking through all streams takes a while, and the answer is the same for everyone. */
const KEPT = /^(?:first=[0-9]*)?$/

export const handleGetLatestStreams = implement(
  getLatestStreams,
  ({ query: { first = STANDARD } }, { directory }) => preparedRows(directory.latest(first)),
  { versionOf: ({ directory }, search) => (KEPT.test(search) ? directory.rankingVersion : undefined) },
)
