/** @jsxRuntime automatic @jsxImportSource preact */
/** What a viewer can claim, is earning, will be able to earn and has earned. */
import type { ComponentChildren } from 'preact'
import type { DropsCampaign } from '../../contract/resources/campaign.ts'
import {
  benefitNames,
  ClaimForm,
  DropList,
  GamePicture,
  LinkAccount,
  MinutesBar,
  needsLink,
  type ShownDrop,
  toShownDrops,
} from '../components/campaign.tsx'
import { directoryLink } from '../components/filters.tsx'
import { Ago, Until } from '../components/time.tsx'
import type { Page } from '../render/page.ts'

export interface EarnedDrop {
  readonly id: string
  readonly benefit: string
  readonly game_id: string
  readonly game: string | undefined
  readonly isFulfilled: boolean
  readonly granted_at: string
  readonly updated_at: string
}

export interface RunningCampaign extends DropsCampaign {
  /** The login of a live channel that counts. */
  readonly watch: string | undefined
}

/** What became of the last claim, and the campaign that it was about. */
export interface DropsNotices {
  readonly refused?: string
  readonly claimed?: string
  readonly about?: DropsCampaign | undefined
}

interface DropsView extends DropsNotices {
  /** Undefined: not logged in. */
  readonly csrf: string | undefined
  readonly campaigns: readonly RunningCampaign[]
  /** Newest first. */
  readonly earned: readonly EarnedDrop[]
  /** Whether this is the first page. */
  readonly isFirst: boolean
  readonly cursor: string | undefined
  readonly now: number
}

export function dropsPage(view: DropsView): Page {
  const { csrf, campaigns, earned, isFirst, cursor, now } = view
  const claimable = campaigns.flatMap(campaign =>
    toShownDrops(campaign)
      .filter(({ state }) => state === 'claimable')
      .map(drop => ({ campaign, drop })),
  )
  const running = campaigns.filter(isRunning)
  const upcoming = campaigns.filter(({ phase }) => phase === 'upcoming')
  const isEmpty = claimable.length + running.length + upcoming.length + earned.length === 0
  return {
    title: 'Drops',
    style: 'drops',
    section: 'drops',
    body: (
      <>
        <h1>Drops</h1>
        <p class="quiet lead">
          Watch a channel that takes part, claim what you reach, and the game delivers it to the account that
          you linked.
        </p>
        <Notices {...view} />
        {csrf === undefined && (
          <p class="log-in">
            <a class="button primary" href="/login?next=/drops">
              Log in
            </a>{' '}
            to earn drops and to see yours.
          </p>
        )}
        {isEmpty && <Empty isFirst={isFirst} />}
        <Part title="Claim now" isShown={csrf !== undefined && claimable.length > 0}>
          <ul class="drops">
            {claimable.map(({ campaign, drop }) => (
              <ClaimRow key={drop.id} campaign={campaign} drop={drop} csrf={csrf ?? ''} now={now} />
            ))}
          </ul>
        </Part>
        <Part title="In progress" isShown={running.length > 0}>
          {running.map(campaign => (
            <CampaignPanel key={campaign.id} campaign={campaign} now={now} />
          ))}
        </Part>
        <Part title="Upcoming" isShown={upcoming.length > 0}>
          {upcoming.map(campaign => (
            <CampaignPanel key={campaign.id} campaign={campaign} now={now} />
          ))}
        </Part>
        <Part title="Earned" isShown={earned.length > 0}>
          <ul class="drops">
            {earned.map(drop => (
              <EarnedRow key={drop.id} {...drop} now={now} />
            ))}
          </ul>
        </Part>
        {(cursor !== undefined || !isFirst) && (
          <nav class="actions pages" aria-label="Pages">
            {!isFirst && (
              <a class="button" href="/drops">
                Newest
              </a>
            )}
            {cursor !== undefined && (
              <a class="button" rel="next" href={`/drops?after=${encodeURIComponent(cursor)}`}>
                Older
              </a>
            )}
          </nav>
        )}
      </>
    ),
  }
}

/** Whether there is something left to watch for. */
const isRunning = (campaign: DropsCampaign): boolean =>
  campaign.phase === 'active' &&
  toShownDrops(campaign).some(({ state }) => state === undefined || state === 'earning')

const Part = ({
  title,
  isShown,
  children,
}: {
  title: string
  isShown: boolean
  children: ComponentChildren
}) => {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return isShown ? (
    <section id={id} aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`}>{title}</h2>
      {children}
    </section>
  ) : null
}

function Notices({ refused, claimed, about }: DropsNotices) {
  const link = about !== undefined && needsLink(about) && about.link_url
  if (refused !== undefined)
    return (
      <p class="notice bad" role="alert">
        {refused} {link && <LinkAccount href={link} />}
      </p>
    )
  if (claimed === undefined) return null
  return (
    <p class="notice good" role="status">
      You earned {claimed}.{' '}
      {link && (
        <>
          <LinkAccount href={link} /> to receive it.
        </>
      )}
    </p>
  )
}

interface ClaimRowProps {
  readonly campaign: DropsCampaign
  readonly drop: ShownDrop
  readonly csrf: string
  readonly now: number
}

function ClaimRow({ campaign, drop, csrf, now }: ClaimRowProps) {
  const mustLink = needsLink(campaign)
  const isBlocked = mustLink && campaign.account_link === 'before_claim'
  return (
    <li class="panel claim">
      <GamePicture game_id={campaign.game_id} />
      <div class="what">
        <h3>{benefitNames(drop)}</h3>
        <p class="quiet">
          {campaign.name} · <GameLink {...campaign} />
        </p>
        <p class="small quiet num">
          Claims close <Until iso={campaign.claim_ends_at} now={now} />
        </p>
        {mustLink && (
          <p class="small">
            <LinkAccount href={campaign.link_url ?? ''} /> {isBlocked ? 'to claim it.' : 'to receive it.'}
          </p>
        )}
      </div>
      {isBlocked ? (
        <span class="drop-state pending">Not linked</span>
      ) : (
        <ClaimForm csrf={csrf} drop_id={drop.id} label={benefitNames(drop)} />
      )}
    </li>
  )
}

function CampaignPanel({ campaign, now }: { campaign: RunningCampaign; now: number }) {
  const { name, phase, game_id, progress, watch } = campaign
  const drops = toShownDrops(campaign)
  const isUpcoming = phase === 'upcoming'
  return (
    <article class="panel campaign">
      <div class="campaign-head">
        <GamePicture game_id={game_id} />
        <div class="what">
          <h3>{name}</h3>
          <p class="quiet">
            <GameLink {...campaign} />
          </p>
          <p class="small quiet num">
            {isUpcoming ? 'Starts' : 'Ends'}{' '}
            <Until iso={isUpcoming ? campaign.starts_at : campaign.ends_at} now={now} />
          </p>
        </div>
        {!isUpcoming &&
          (watch === undefined ? (
            <span class="small quiet">No channel is live</span>
          ) : (
            <a class="button" href={`/${watch}`} aria-label={`Watch a channel for ${name}`}>
              Watch a channel
            </a>
          ))}
      </div>
      {!isUpcoming && <MinutesBar minutes={progress?.minutes ?? 0} drops={drops} />}
      <DropList
        drops={isUpcoming ? drops.map(drop => ({ ...drop, state: undefined })) : drops}
        claim={() => (
          <a class="drop-state good" href="#claim-now">
            Reached
          </a>
        )}
      />
    </article>
  )
}

const GameLink = ({ game_id, game_name }: Pick<DropsCampaign, 'game_id' | 'game_name'>) => (
  <a href={directoryLink({ game: game_id, drops: '1' })}>{game_name}</a>
)

type EarnedRowProps = EarnedDrop & { readonly now: number }

const EarnedRow = ({ benefit, game, game_id, isFulfilled, granted_at, updated_at, now }: EarnedRowProps) => (
  <li class="panel">
    <GamePicture game_id={game_id} />
    <div class="what">
      <h3>{benefit}</h3>
      <p class="quiet">
        {game === undefined ? 'A game that no longer exists' : <a href={`/games/${game_id}`}>{game}</a>}
      </p>
      <p class="small quiet num">
        Earned <Ago iso={granted_at} now={now} />
        {isFulfilled && (
          <>
            {' '}
            · delivered <Ago iso={updated_at} now={now} />
          </>
        )}
      </p>
    </div>
    <span class={isFulfilled ? 'drop-state good' : 'drop-state pending'}>
      {isFulfilled ? 'Delivered' : 'On its way'}
    </span>
  </li>
)

const Empty = ({ isFirst }: { isFirst: boolean }) => (
  <div class="panel none">
    <h2>{isFirst ? 'No drops yet' : 'No older drops'}</h2>
    <p class="quiet">
      Drops are rewards in a game for watching channels that play it. Channels that count have the badge
      “Drops”; what you can earn, and what you have earned, is listed here.
    </p>
    <p class="actions">
      <a class="button primary" href="/">
        See who is live
      </a>
      <a class="button" href={directoryLink({ drops: '1' })}>
        Channels with drops
      </a>
    </p>
  </div>
)
