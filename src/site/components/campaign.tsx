/** @jsxRuntime automatic @jsxImportSource preact */
/** A drops campaign: how far the viewer is, and its drops. */
import type { ComponentChildren } from 'preact'
import type { DropState, DropsCampaign } from '../../contract/resources/campaign.ts'
import { counted } from '../format/numbers.ts'
import { Form } from './form.tsx'
import { CHECK, Icon } from './icon.tsx'

type CampaignDrop = DropsCampaign['drops'][number]

/** How far a viewer is with a drop. Without a viewer, only what it takes is shown. */
export interface ShownDrop extends CampaignDrop {
  readonly state?: DropState | undefined
  readonly minutesLeft: number
}

/** The drops of a campaign with the progress that it has. */
export function toShownDrops({ drops, progress }: DropsCampaign): ShownDrop[] {
  return drops.map(drop => {
    const own = progress?.drops.find(({ drop_id }) => drop_id === drop.id)
    return { ...drop, state: own?.state, minutesLeft: own?.minutes_left ?? drop.required_minutes }
  })
}

/** What a drop gives, by name. */
export const benefitNames = ({ benefits }: Pick<CampaignDrop, 'benefits'>): string =>
  benefits.map(({ name }) => name).join(', ')

/** Whether the studio needs the viewer to link an account, and the viewer has not. */
export const needsLink = ({ account_link, link_url, progress }: DropsCampaign): boolean =>
  account_link !== 'none' && link_url !== null && progress?.linked === false

export const GamePicture = ({ game_id }: { game_id: string }) => (
  <img
    src={`/images/games/${game_id}-144x192.svg`}
    width="72"
    height="96"
    alt=""
    loading="lazy"
    decoding="async"
  />
)

/** Minutes of the longest drop, with a mark where each drop is reached. */
export function MinutesBar({ minutes, drops }: { minutes: number; drops: readonly CampaignDrop[] }) {
  const total = Math.max(1, ...drops.map(drop => drop.required_minutes))
  const share = (part: number) => `${Math.min(100, (part / total) * 100).toFixed(2)}%`
  const text = `${minutes} of ${counted(total, 'minute', 'minutes')}`
  return (
    <>
      <p class="minutes small quiet num">{text}</p>
      <div
        class="minutes-bar"
        role="progressbar"
        aria-label="Minutes watched"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={Math.min(minutes, total)}
        aria-valuetext={text}
      >
        <svg aria-hidden="true">
          <rect class="track" width="100%" height="100%" rx="4" />
          <rect class="watched" width={share(minutes)} height="100%" rx="4" />
          {drops.map(({ id, required_minutes }) => (
            <circle
              key={id}
              class={required_minutes <= minutes ? 'mark reached' : 'mark'}
              cx={share(required_minutes)}
              cy="50%"
              r="6"
            />
          ))}
        </svg>
      </div>
    </>
  )
}

interface DropListProps {
  readonly drops: readonly ShownDrop[]
  /** What is offered for a drop that is reached. */
  readonly claim: (drop: ShownDrop) => ComponentChildren
}

/** The drops of a campaign in order, each with what it takes or what became of it. */
export const DropList = ({ drops, claim }: DropListProps) => (
  <ol class="campaign-drops">
    {drops.map(drop => (
      <li key={drop.id} {...(drop.state && { class: drop.state })}>
        <div class="gives">
          <strong>{benefitNames(drop)}</strong>
          <span class="small quiet">
            {drop.name} · {counted(drop.required_minutes, 'minute', 'minutes')}
          </span>
        </div>
        {drop.state === 'claimable' ? claim(drop) : <DropStatus {...drop} />}
      </li>
    ))}
  </ol>
)

const DropStatus = ({ state, minutesLeft }: ShownDrop) => {
  if (state === 'claimed')
    return (
      <span class="drop-state good">
        <Icon shape={CHECK} />
        Claimed
      </span>
    )
  if (state === 'missed') return <span class="drop-state">Missed</span>
  if (state === undefined) return null
  return <span class="small quiet num">{counted(minutesLeft, 'minute', 'minutes')} left</span>
}

interface ClaimFormProps {
  readonly csrf: string
  readonly drop_id: string
  /** What the button claims, for people who hear it among others. */
  readonly label: string
  readonly isBusy?: boolean
  readonly onSubmit?: (event: SubmitEvent) => void
}

export const ClaimForm = ({ csrf, drop_id, label, isBusy = false, onSubmit }: ClaimFormProps) => (
  <Form action="/drops" fields={{ csrf, drop_id }} {...(onSubmit && { onSubmit })}>
    <button class="primary" type="submit" disabled={isBusy} aria-label={`Claim ${label}`}>
      Claim
    </button>
  </Form>
)

/** Leads to the page of the studio, which comes from its campaign: only http and https are stored. */
export const LinkAccount = ({ href, className }: { href: string; className?: string }) => (
  <a href={href} rel="noopener noreferrer" {...(className && { class: className })}>
    Link your account
  </a>
)
