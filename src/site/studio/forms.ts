/**
 * The forms of the studio (D-156). Each works without a script: it redirects back to the page, or shows it again with what is
 * wrong. A script sends the same form and gets JSON. What Helix offers is done through it, with a token of the person.
 */
import { isRefusal, Problem, type Refusal } from '../../contract/problem.ts'
import type { Scope } from '../../contract/scope.ts'
import { userAuthor } from '../../domain/audit.ts'
import { replaceStreamKey } from '../../operations/replace-stream-key.ts'
import type { Page, PageAnswer } from '../render/page.ts'
import { expiredFormPage } from '../render/problem-page.tsx'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import type { PageFields } from '../request/fields.ts'
import { isRefused } from '../scripts/refused.ts'
import { type StudioSection, sectionPath } from './sections.ts'
import { renderStudio, type StudioServices } from './studio.ts'
import { forbidden, isStudioContext, openStudioContext, type StudioContext } from './studio-context.ts'

/** What came of a form: a confirmation and the part of its page to return to, what is wrong, or a page to show. */
type Outcome =
  | { readonly done: string; readonly part?: string }
  | { readonly violation: string; readonly status?: number }
  | { readonly page: Page }

interface Submission {
  readonly form: PageFields
  readonly context: StudioContext
  readonly browser: Browser
  readonly services: StudioServices
}

/** `section`: the page that has the form. */
const studioForm =
  (
    allowed: 'owner' | 'editor',
    section: StudioSection,
    submit: (submission: Submission) => Promise<Outcome>,
  ) =>
  async (browser: Browser, services: StudioServices): Promise<PageAnswer> => {
    const form = await browser.form()
    if (form === undefined) return expiredFormPage()
    const context = await openStudioContext(browser, services)
    if (!isStudioContext(context)) return context
    if (allowed === 'owner' && !context.isOwner)
      return forbidden(`Only ${context.channel.display_name} can change this.`)
    const outcome = await orViolation(() => submit({ form, context, browser, services }))
    if ('page' in outcome) return outcome.page
    if (!browser.prefersHtml) return toJsonAnswer(outcome)
    if ('done' in outcome) {
      const { done, part } = outcome
      const fragment = part === undefined ? '' : `#${part}`
      return { goTo: `${sectionPath(context.channel.login, section)}?done=${done}${fragment}` }
    }
    const { violation, status = 400 } = outcome
    return { ...(await renderStudio(browser, services, { context, section, violation })), status }
  }

const toJsonAnswer = (outcome: Exclude<Outcome, { page: Page }>): PageAnswer =>
  'done' in outcome
    ? { json: { done: outcome.done } }
    : { status: outcome.status ?? 400, json: { message: outcome.violation } }

/** What the API refuses because of the input is for the person to read, who is logged in; the rest is an error of the page. */
async function orViolation(submit: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await submit()
  } catch (error) {
    if (isRefused(error))
      return { violation: forPeople(error.message), status: error.status === 401 ? 403 : error.status }
    throw error
  }
}

/** `The parameter "tags" was malformed: ...` is for programs; a form has a field "Tags". */
function forPeople(message: string): string {
  const [, field = '', reason] = /^The parameter "(\w+)" was malformed: (.*)$/s.exec(message) ?? []
  if (reason === undefined) return message
  const name = field.replace('broadcaster_', '')
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}: ${reason.replace(/\.?$/, '.')}`
}

const toOutcome = (refusal: Refusal): Outcome => {
  const { message, status } = new Problem(refusal)
  return { violation: message, status }
}

const studioApi = ({ browser, services }: Submission, ...scopes: Scope[]) => apiFor(browser, services, scopes)

/** The store for a change by the person who has it open. */
const storeAs = ({ context, services }: Submission, operation: string) =>
  services.store.as(userAuthor(context.session.user_id, operation, services.clock.now()))

export const submitStudioChannel = studioForm('owner', 'live', async submission => {
  const { form, context } = submission
  const { helix } = await studioApi(submission, 'channel:manage:broadcast')
  const game_id = await findGameId(form, helix)
  if (game_id === undefined)
    return { violation: `There is no game with the name "${form.get('game')}". Pick one from the list.` }
  await helix.modifyChannelInformation({
    broadcaster_id: context.channel.id,
    title: form.get('title') ?? '',
    game_id,
    broadcaster_language: form.get('language') ?? 'other',
    tags: tagsIn(form.get('tags') ?? ''),
  })
  return { done: 'channel', part: 'channel' }
})

/** Separated by commas or spaces: a tag contains neither. */
const tagsIn = (text: string): string[] => text.split(/[\s,]+/).filter(tag => tag !== '')

/** The game of the form: the picked one if its name was not changed afterwards, otherwise the one of that name. */
async function findGameId(
  form: PageFields,
  helix: Awaited<ReturnType<typeof apiFor>>['helix'],
): Promise<string | undefined> {
  const name = form.get('game')?.trim()
  if (!name) return ''
  const isNamed = (game: { name: string }) => game.name.toLowerCase() === name.toLowerCase()
  const picked = form.get('game_id')
  const [game] = picked === undefined ? [] : (await helix.getGames({ id: [picked] })).data
  if (game !== undefined && isNamed(game)) return game.id
  return (await helix.searchCategories({ query: name, first: 1 })).data.find(isNamed)?.id
}

/** How long the old key may stay valid. */
const GRACES: ReadonlySet<string> = new Set(['0', '3600', '86400', '604800'])

export const submitStudioKey = studioForm('owner', 'channel', async submission => {
  const { form, context, browser, services } = submission
  const { id: user_id } = context.channel
  if (form.get('decision') === 'show') {
    const { helix } = await studioApi(submission, 'channel:read:stream_key')
    const { stream_key } = await helix.getStreamKey.one({ broadcaster_id: user_id })
    return {
      page: await renderStudio(browser, services, { context, section: 'channel', streamKey: stream_key }),
    }
  }
  const grace = form.get('grace') ?? '0'
  if (form.get('decision') !== 'rotate' || !GRACES.has(grace))
    return { violation: 'Choose how long the old key stays valid.' }
  const { clock, streamKeys } = services
  const store = storeAs(submission, 'RotateStreamKey')
  const replaced = await replaceStreamKey(
    { user_id, graceSeconds: Number(grace) },
    { store, clock, streamKeys },
  )
  return isRefusal(replaced) ? toOutcome(replaced) : { done: 'key' }
})

const MAX_DESCRIPTION = 140

export const submitStudioMarker = studioForm('editor', 'live', async submission => {
  const { form, context } = submission
  const broadcaster_id = context.channel.id
  const [id, description] = [form.get('marker_id') ?? '', form.get('description') ?? '']
  if ([...description].length > MAX_DESCRIPTION)
    return { violation: `A description has at most ${MAX_DESCRIPTION} characters.` }
  switch (form.get('decision')) {
    case 'add': {
      const { helix } = await studioApi(submission, 'channel:manage:broadcast')
      await helix.createStreamMarker({ user_id: broadcaster_id, description })
      return { done: 'marker-added', part: 'markers' }
    }
    case 'rename': {
      const store = storeAs(submission, 'RenameMarker')
      const refused = await store.commands.renameMarker({ id, broadcaster_id, description })
      return refused === undefined ? { done: 'marker-renamed', part: 'markers' } : toOutcome(refused)
    }
    case 'delete': {
      const store = storeAs(submission, 'DeleteMarker')
      const refused = await store.commands.deleteMarker({ id, broadcaster_id })
      return refused === undefined ? { done: 'marker-deleted', part: 'markers' } : toOutcome(refused)
    }
    default:
      return { violation: 'Choose what to do with the marker.' }
  }
})

export const submitStudioEditor = studioForm('owner', 'editors', async submission => {
  const { form, context, services } = submission
  const { id: user_id } = context.channel
  if (form.get('decision') === 'remove') {
    const editor_id = form.get('user_id') ?? ''
    const refused = await storeAs(submission, 'DeleteEditor').commands.deleteEditor({ user_id, editor_id })
    return refused === undefined ? { done: 'editor-removed' } : toOutcome(refused)
  }
  const login = form.get('login')?.trim() ?? ''
  const editor = await services.store.users.activeWithLogin(login)
  if (editor === undefined) return { violation: `There is no user with the name "${login}".` }
  if (editor.id === user_id) return { violation: 'You are the broadcaster: you need not be an editor.' }
  const addition = { user_id, editor_id: editor.id, now: services.clock.now() }
  const refused = await storeAs(submission, 'PutEditor').commands.putEditor(addition)
  return refused === undefined ? { done: 'editor-added' } : toOutcome(refused)
})

const MAX_TITLE = 140

export const submitStudioVideo = studioForm('owner', 'videos', async submission => {
  const { form, context, services } = submission
  const [id, title] = [form.get('video_id') ?? '', form.get('title')?.trim() ?? '']
  if (form.get('decision') === 'delete') {
    const { helix } = await studioApi(submission, 'channel:manage:videos')
    const { data } = await helix.deleteVideos({ id: [id] })
    return data.length === 0 ? NO_VIDEO : { done: 'video-deleted' }
  }
  if (title === '' || [...title].length > MAX_TITLE)
    return { violation: `A title has 1 to ${MAX_TITLE} characters.` }
  const video = await services.store.videos.find(id)
  if (video?.user_id !== context.channel.id) return NO_VIDEO
  const refused = await storeAs(submission, 'PatchVideo').commands.changeVideo({ id, title })
  return refused === undefined ? { done: 'video-renamed' } : toOutcome(refused)
})

const NO_VIDEO: Outcome = { violation: 'There is no such video. It may have been deleted.', status: 404 }
