/** The forms of the account page that change the profile, and how the site looks in this browser. */
import { isRefusal } from '../../contract/problem.ts'
import { MAX_DESCRIPTION, MAX_LINK_LABEL, PROFILE_LINK_PATTERN } from '../../contract/resources/user.ts'
import { userAuthor } from '../../domain/audit.ts'
import { formatProfileLink } from '../../domain/profile-link.ts'
import type { PageFields } from '../request/fields.ts'
import type { PageServices } from '../request/session.ts'
import { renderAccount, withForm } from './account.ts'
import { LINK_FIELDS } from './link-fields.ts'

type ProfileServices = Pick<PageServices, 'store' | 'clock'>

export const submitProfile = withForm(async (form, session, browser, services: ProfileServices) => {
  const { user_id, login } = session
  const reject = (violation: string) => renderAccount(browser, services, session, { violation, given: form })
  const display_name = form.get('display_name')?.trim() ?? login
  // As in the real API; only operators give other names. A name that was given can stay.
  if (display_name !== session.display_name && display_name.toLowerCase() !== login)
    return reject('The display name may differ from the user name by capital letters only.')
  const description = form.get('description')?.replaceAll('\r\n', '\n').trim() ?? ''
  if ([...description].length > MAX_DESCRIPTION)
    return reject(`A bio has at most ${MAX_DESCRIPTION} characters.`)
  const links = readLinks(form)
  if (typeof links === 'string') return reject(links)
  const author = userAuthor(user_id, 'PutUser', services.clock.now())
  const commands = services.store.as(author).commands
  await commands.changeProfile({ id: user_id, display_name, description, links })
  const language = form.get('language')
  if (language !== undefined && /^([a-z]{2}|other)$/.test(language)) {
    const refused = await commands.modifyChannel({ user_id, update: { language } })
    if (isRefusal(refused)) return reject('The language was not changed.')
  }
  return { goTo: '/account?done=profile' }
})

const LINK = new RegExp(PROFILE_LINK_PATTERN, 'u')

/** The links of the form, or what is wrong with one. */
function readLinks(form: PageFields): string[] | string {
  const links: string[] = []
  for (const [labelField, urlField] of LINK_FIELDS) {
    const label = form.get(labelField)?.replaceAll(/\s+/g, ' ').trim() ?? ''
    const url = form.get(urlField)?.trim() ?? ''
    if (label === '' && url === '') continue
    if (label === '' || url === '') return 'A link has a label and an address.'
    if ([...label].length > MAX_LINK_LABEL)
      return `The label of a link has at most ${MAX_LINK_LABEL} characters.`
    const link = formatProfileLink({ label, url: URL.canParse(url) ? new URL(url).href : url })
    if (!LINK.test(link)) return `The address of the link "${label}" must begin with https://.`
    links.push(link)
  }
  return links
}

export const submitAppearance = withForm(async (form, _session, browser, _services: object) => {
  const theme = form.get('theme')
  browser.rememberTheme(theme === 'light' || theme === 'dark' ? theme : undefined)
  return { goTo: '/account?done=appearance' }
})
