/** @jsxRuntime automatic @jsxImportSource preact */
/** What a channel page shows below the player, in its masthead: who broadcasts what. */
import type { ComponentChildren } from 'preact'
import { Avatar } from './avatar.tsx'
import { Follow, type Following } from './follow.tsx'

export interface Channel {
  readonly id: string
  readonly login: string
  readonly display_name: string
}

export const Header = ({
  channel,
  title,
  byline,
  below,
  numbers,
  following,
}: {
  readonly channel: Channel
  readonly title: string
  readonly byline: ComponentChildren
  readonly below?: ComponentChildren
  readonly numbers?: ComponentChildren
  readonly following: Following
}) => (
  <>
    <Avatar user_id={channel.id} size={64} />
    <div class="names">
      <h1>{title}</h1>
      <p class="byline">{byline}</p>
      {below}
    </div>
    <div class="end">
      {numbers}
      <Follow {...following} />
    </div>
  </>
)
