/** The channel that a page of the studio is about, and the person who has it open: its broadcaster or one of its editors (D-156). */
import type { User } from '../../contract/resources/user.ts'
import type { Session } from '../../store/queries/accounts.ts'
import type { PageAnswer } from '../render/page.ts'
import { problemPage } from '../render/problem-page.tsx'
import type { Browser } from '../request/browser.ts'
import { readSession, type SessionServices } from '../request/session.ts'

export interface StudioContext {
  readonly session: Session
  readonly channel: Pick<User, 'id' | 'login' | 'display_name'>
  /** Editors see the broadcast and work on markers; the rest is up to the broadcaster. */
  readonly isOwner: boolean
}

/** The path of a page of the studio: of the person, or with a login. */
const PATH = /^\/studio(?:\/([^/]+))?/
const OWN = [{ href: '/studio', title: 'Your studio' }]

/** The path of a page of the studio with its login replaced, as the list of pages has it. */
export const studioPattern = (path: string): string => path.replace(/^\/studio\/[^/]+/, '/studio/{login}')

export const studioPath = (login: string | undefined): string =>
  login === undefined ? '/studio' : `/studio/${login}`

export function isStudioContext(answer: StudioContext | PageAnswer): answer is StudioContext {
  return 'session' in answer
}

/** Without a login in the path, that of the person. */
export async function openStudioContext(
  browser: Browser,
  services: SessionServices,
): Promise<StudioContext | PageAnswer> {
  const session = await readSession(browser, services)
  const login = PATH.exec(browser.path)?.[1]?.toLowerCase()
  if (session === undefined) return { goTo: `/login?next=${encodeURIComponent(studioPath(login))}` }
  if (login === undefined || login === session.login) {
    const { user_id, display_name } = session
    return { session, channel: { id: user_id, login: session.login, display_name }, isOwner: true }
  }
  const channel = await services.store.users.activeWithLogin(login)
  if (channel === undefined)
    return problemPage(404, 'Channel not found', 'There is no channel with this name.', OWN)
  if (!(await services.store.channels.hasEditor(channel.id, session.user_id)))
    return forbidden(`You are not an editor of ${channel.display_name}. The broadcaster can add you.`)
  return { session, channel, isOwner: false }
}

export const forbidden = (sentence: string) => problemPage(403, 'Not your studio', sentence, OWN)
