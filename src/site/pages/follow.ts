/** POST /follow: follows a channel, or no longer. */
import { raise } from '../../contract/problem.ts'
import { expiredFormPage, problemPage } from '../render/problem-page.tsx'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'

/** Follows are stored: without a limit, a stranger could make the store grow. */
const MOST = 2000

export const submitFollow: PageHandler = async (
  browser,
  services: SessionServices & Pick<PageServices, 'store'>,
) => {
  const form = await browser.form()
  if (form === undefined) return expiredFormPage()
  const { store, clock } = services
  const channel = await store.users.activeWithLogin((form.get('login') ?? '').toLowerCase())
  if (channel === undefined)
    return problemPage(404, 'Channel not found', 'There is no channel with this name.')
  const session = await readSession(browser, services)
  if (session === undefined) return { goTo: `/login?next=/${channel.login}` }
  const pair = { user_id: session.user_id, broadcaster_id: channel.id }
  const goTo = `/${channel.login}`
  if (form.get('decision') === 'unfollow') {
    await store.commands.deleteFollow(pair)
    return { goTo }
  }
  if (pair.user_id === pair.broadcaster_id)
    return raise('malformed_parameter', 'login', 'it must be the channel of another user')
  if ((await store.follows.countFollowed(pair.user_id)) >= MOST)
    return problemPage(
      409,
      'You follow too many channels',
      `You follow ${MOST.toLocaleString('en-US')} channels, which is the limit. Unfollow one first.`,
      [{ href: goTo, title: 'Back to the channel' }],
    )
  await store.commands.putFollows({ follows: [pair], now: clock.now() })
  return { goTo }
}
