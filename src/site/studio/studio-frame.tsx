/** @jsxRuntime automatic @jsxImportSource preact */
/** What the pages of a studio have in common: whose it is, its tabs, and what came of the last form. */
import type { ComponentChildren } from 'preact'
import type { Session } from '../../store/queries/accounts.ts'
import type { EditedChannel } from '../../store/queries/channels.ts'
import { type FormToken, Notice } from '../components/form.tsx'
import type { Page } from '../render/page.ts'
import { SECTIONS, type StudioSection, sectionPath } from './sections.ts'
import { studioPath } from './studio-context.ts'

export interface StudioNotices {
  readonly done?: string | undefined
  readonly violation?: string | undefined
  /** The stream key, for a browser without a script that asked for it. */
  readonly streamKey?: string
}

export interface StudioView extends FormToken, StudioNotices {
  readonly channel: EditedChannel
  readonly isOwner: boolean
  readonly me: Session
  /** Other channels that the person may edit. */
  readonly edited: readonly EditedChannel[]
  readonly now: number
}

export function studioPage(
  view: StudioView,
  section: StudioSection,
  page: Pick<Page, 'scopes' | 'media'> & { readonly body: ComponentChildren },
): Page {
  const { channel, isOwner } = view
  const name = isOwner ? 'Studio' : `Studio of ${channel.display_name}`
  const { title } = SECTIONS.find(each => each.section === section) ?? { title: '' }
  return {
    title: section === 'live' ? name : `${title} · ${name}`,
    style: 'studio',
    section: 'studio',
    status: view.violation === undefined ? 200 : 400,
    ...page,
    body: (
      <>
        <div class="studio-head">
          <h1>{name}</h1>
          <Channels {...view} />
        </div>
        <nav class="tabs" aria-label="Studio">
          {SECTIONS.filter(({ forEditors }) => isOwner || forEditors).map(each => (
            <a
              key={each.section}
              href={sectionPath(channel.login, each.section)}
              {...(each.section === section && { 'aria-current': 'page' })}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <Notice kind="bad" sentence={view.violation} />
        <Notice kind="good" sentence={view.done} />
        {page.body}
      </>
    ),
  }
}

/** The channels that the person works on: their own, and those that they edit. */
const Channels = ({ me, edited, channel }: StudioView) =>
  edited.length === 0 ? null : (
    <nav class="actions" aria-label="Channels">
      {[{ id: me.user_id, login: me.login, display_name: me.display_name }, ...edited].map(each => (
        <a
          key={each.id}
          class="chip"
          href={studioPath(each.login)}
          {...(each.id === channel.id && { 'aria-current': 'page' })}
        >
          {each.display_name}
        </a>
      ))}
    </nav>
  )
