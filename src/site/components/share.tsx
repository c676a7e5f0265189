/** @jsxRuntime automatic @jsxImportSource preact */
/** A button that opens the link of a page, to copy. Without a script it opens as well, and people copy from the field. */
import { useState } from 'preact/hooks'
import { videoMoment } from '../../domain/timeline.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'

export interface ShareProps {
  /** A whole URL. */
  readonly link: string
  /** Where the video of the page begins. Absent: the page is about a channel. */
  readonly position?: number
}

const SHARE_ICON = 'M12 15V4M8 8l4-4 4 4M5 13v6h14v-6'

export function Share({ link, position: start }: ShareProps) {
  const [position, setPosition] = useState(start ?? 0)
  const read = () => {
    if (start !== undefined) setPosition(playerPosition())
  }
  return (
    <>
      <button class="share" type="button" popovertarget="share" onClick={read}>
        <Icon path={SHARE_ICON} lines />
        Share
      </button>
      <div class="share-menu" id="share" popover="auto" role="dialog" aria-labelledby="share-heading">
        <h2 id="share-heading">Share</h2>
        <Link id="share-link" label="Link" link={link} />
        {position > 0 && (
          <Link
            id="share-moment"
            label={`Link that starts at ${clockTime(position)}`}
            link={`${link}?t=${videoMoment(position)}`}
          />
        )}
        <button
          class="close"
          type="button"
          popovertarget="share"
          popovertargetaction="hide"
          aria-label="Close"
        >
          <Icon path="m6 6 12 12m0-12L6 18" lines />
        </button>
      </div>
    </>
  )
}

const Link = ({ id, label, link }: { id: string; label: string; link: string }) => (
  <div class="field">
    <label for={id}>{label}</label>
    <div class="copied">
      <input id={id} readOnly value={link} />
      <CopyButton label="the link" text={() => link} className="primary" />
    </div>
  </div>
)

/** In whole seconds, as the slider of the player has it. */
const playerPosition = (): number =>
  Math.floor(Number(document.querySelector<HTMLInputElement>('[data-part=seek]')?.value ?? 0))
