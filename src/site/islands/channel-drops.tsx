/** @jsxRuntime automatic @jsxImportSource preact */
/** The drops of a live channel: minutes move with the heartbeats of the player, and what is reached can be claimed. */
import { useState } from 'preact/hooks'
import type { DropsCampaign } from '../../contract/resources/campaign.ts'
import {
  benefitNames,
  ClaimForm,
  DropList,
  LinkAccount,
  MinutesBar,
  needsLink,
  type ShownDrop,
  toShownDrops,
} from '../components/campaign.tsx'
import { type NoMinutesReason, REASONS } from '../components/drops-reasons.ts'
import { directoryLink } from '../components/filters.tsx'
import { useOutcome } from '../components/outcome.tsx'
import { Until } from '../components/time.tsx'
import { counted } from '../format/numbers.ts'
import { type HeartbeatAnswer, useHeartbeatAnswer } from '../scripts/heartbeat-answer.ts'
import { island } from '../scripts/island.tsx'
import { sendForm } from '../scripts/send-form.ts'
import { useServerTime } from '../scripts/server-time.ts'

interface ChannelDropsProps {
  readonly login: string
  /** Active campaigns of the game, and those that list the channel. */
  readonly campaigns: readonly DropsCampaign[]
  /** Why minutes do not count here, as far as the page knows before the first heartbeat. */
  readonly reason?: NoMinutesReason
  /** Absent: not logged in. */
  readonly csrf?: string
  /** The time of the server, in milliseconds since 1970. */
  readonly now: number
}

const MINUTE_MILLISECONDS = 60_000

export const ChannelDrops = island('channel-drops', function ChannelDrops(props: ChannelDropsProps) {
  const { login, campaigns, csrf } = props
  const answer = useHeartbeatAnswer()
  const [claimed, setClaimed] = useState<readonly string[]>([])
  const { isBusy, attempt, notice } = useOutcome()
  const now = useServerTime(props.now, MINUTE_MILLISECONDS)
  const shown = campaigns.map(campaign => withAnswer(campaign, answer, claimed))
  const claim = (drop: ShownDrop) => (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    void attempt(`You earned ${benefitNames(drop)}.`, async () => {
      await sendForm(form)
      setClaimed(before => [...before, drop.id])
    })
  }
  const reason = answer === undefined ? props.reason : answer.reason
  return (
    <section class="panel channel-drops" aria-labelledby="drops-heading">
      <h2 id="drops-heading">Drops</h2>
      <p class="counting" role="status">
        {csrf === undefined ? (
          <>
            <a href={`/login?next=/${login}`}>Log in</a> to earn drops while you watch.
          </>
        ) : (
          <Counting reason={reason} isHeard={answer !== undefined} shown={shown} />
        )}
      </p>
      {notice}
      {shown.map(({ campaign, minutes, drops }) => (
        <article key={campaign.id} class="campaign">
          <h3>{campaign.name}</h3>
          <p class="small quiet">
            <a href={directoryLink({ game: campaign.game_id, drops: '1' })}>{campaign.game_name}</a> · ends{' '}
            <Until iso={campaign.ends_at} now={now} />
          </p>
          <MinutesBar minutes={minutes} drops={drops} />
          <DropList
            drops={drops}
            claim={drop =>
              csrf === undefined ? null : needsLink(campaign) && campaign.account_link === 'before_claim' ? (
                <LinkAccount href={campaign.link_url ?? ''} className="button" />
              ) : (
                <ClaimForm
                  csrf={csrf}
                  drop_id={drop.id}
                  label={benefitNames(drop)}
                  isBusy={isBusy}
                  onSubmit={claim(drop)}
                />
              )
            }
          />
          {needsLink(campaign) && (
            <p class="small quiet">
              <LinkAccount href={campaign.link_url ?? ''} /> to receive what you earn.
            </p>
          )}
        </article>
      ))}
    </section>
  )
})

interface ShownCampaign {
  readonly campaign: DropsCampaign
  readonly minutes: number
  readonly drops: readonly ShownDrop[]
}

/** The progress of the page, replaced by that of the last heartbeat. What is reached and not offered is claimed. */
function withAnswer(
  campaign: DropsCampaign,
  answer: HeartbeatAnswer,
  claimed: readonly string[],
): ShownCampaign {
  const heard = answer?.data.find(({ campaign_id }) => campaign_id === campaign.id)
  const minutes = Math.max(heard?.minutes ?? 0, campaign.progress?.minutes ?? 0)
  const drops = toShownDrops(campaign).map(drop => {
    if (claimed.includes(drop.id)) return { ...drop, state: 'claimed' as const }
    if (heard === undefined || drop.state === 'claimed') return drop
    const minutesLeft = Math.max(0, drop.required_minutes - minutes)
    const isOffered = heard.claimable.includes(drop.id)
    const state = minutesLeft > 0 ? 'earning' : isOffered ? 'claimable' : 'claimed'
    return { ...drop, minutesLeft, state: state as ShownDrop['state'] }
  })
  return { campaign, minutes, drops }
}

function Counting({
  reason,
  isHeard,
  shown,
}: {
  reason: ChannelDropsProps['reason'] | undefined
  isHeard: boolean
  shown: readonly ShownCampaign[]
}) {
  if (reason === 'channel_not_listed')
    return (
      <>
        {REASONS[reason]} <a href={directoryLink({ drops: '1' })}>Channels with drops</a>
      </>
    )
  if (reason !== undefined) return <>{REASONS[reason]}</>
  const drops = shown.flatMap(each => each.drops)
  if (drops.some(({ state }) => state === 'claimable')) return <>You have reached a drop. Claim it below.</>
  if (!isHeard) return <>Minutes count while the video plays.</>
  const [next] = drops
    .filter(({ state }) => state === 'earning')
    .sort((a, b) => a.minutesLeft - b.minutesLeft)
  return (
    <>
      Your minutes count.
      {next && ` ${benefitNames(next)} in ${counted(next.minutesLeft, 'minute', 'minutes')}.`}
    </>
  )
}
