/** @jsxRuntime automatic @jsxImportSource preact */
/** The link of a video that plays: to its start, and to what is shown now. */
import { Share, type ShareProps } from '../components/share.tsx'
import { island } from '../scripts/island.tsx'

export const ShareVideo = island('share-video', function ShareVideo(props: ShareProps) {
  return <Share {...props} />
})
