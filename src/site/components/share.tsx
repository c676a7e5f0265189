/** @jsxRuntime automatic @jsxImportSource preact */
/** A button that opens the link of a page. People copy it from the field; where something plays, a script copies it for them. */
import type { ComponentChildren } from 'preact'
import { clockTime } from '../../kit/time/clock-time.ts'
import { CLOSE, Icon, SHARE } from './icon.tsx'

interface ShareProps {
  /** A whole URL. */
  readonly link: string
  /** Absent: nothing is recorded, so that no link can point to a moment. */
  readonly moment?: SharedMoment
}

export interface SharedMoment {
  /** The whole URL of the page of the video. */
  readonly link: string
  /** What is shown now, in seconds. */
  readonly position: number
}

/** `player/start-sharing.ts` works on its parts. */
export const Share = ({ link, moment }: ShareProps) => (
  <div>
    <button class="share" type="button" popovertarget="share">
      <Icon shape={SHARE} />
      Share
    </button>
    <div class="share-menu" id="share" popover="auto" role="dialog" aria-labelledby="share-heading">
      <h2 id="share-heading">Share</h2>
      <LinkField id="share-link" link={link} label="Link" />
      {moment !== undefined && (
        <LinkField
          id="share-moment"
          link={`${moment.link}?t=${moment.position}s`}
          label={
            <>
              Link that starts at <span class="num">{clockTime(moment.position)}</span>
            </>
          }
          isHidden={moment.position === 0}
        />
      )}
      <button class="close" type="button" popovertarget="share" popovertargetaction="hide" aria-label="Close">
        <Icon shape={CLOSE} />
      </button>
    </div>
  </div>
)

interface LinkFieldProps {
  readonly id: string
  readonly link: string
  readonly label: ComponentChildren
  readonly isHidden?: boolean
}

const LinkField = ({ id, link, label, isHidden = false }: LinkFieldProps) => (
  <div class="field" hidden={isHidden}>
    <label for={id}>{label}</label>
    <div class="copied">
      <input id={id} readOnly value={link} />
      <button class="primary" type="button" hidden>
        <span aria-live="polite">Copy</span>
        <span class="hidden-text"> the link</span>
      </button>
    </div>
  </div>
)
