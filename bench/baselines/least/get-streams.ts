import type { PageRequest } from '../../../src/contract/page.ts'
import { loadDirectory, pageText } from './live-streams.ts'
import { type LeastCaller, type LeastOperation, PAGE, parameter } from './operation.ts'

const MAX_PAGE = 100

export const getStreams: LeastOperation = async services => {
  const directory = await loadDirectory(services)
  return (search, caller) => {
    const asked = readSearch(search)
    const binding = () => bindingOf(asked, caller)
    const bookmark = asked.after === undefined ? undefined : services.cursors.open(binding(), asked.after)
    const window: PageRequest = {
      first: asked.first,
      direction: 'forward',
      ...(bookmark && {
        from: bookmark.last,
        ...(bookmark.cursorState && { cursorState: bookmark.cursorState }),
      }),
    }
    return pageText(services, directory.page(asked, window), binding)
  }
}

type Asked = ReturnType<typeof readSearch>

/** Filters may be repeated. */
function readSearch(search: string) {
  const pairs = search === '' ? [] : search.split('&')
  const valuesOf = (name: string) => {
    const found = pairs.filter(pair => pair.startsWith(name)).map(pair => pair.slice(name.length))
    return found.length === 0 ? undefined : found
  }
  const user_ids = valuesOf('user_id=')
  const first = Number(parameter(search, 'first') ?? (user_ids === undefined ? PAGE : MAX_PAGE))
  const filters = { user_ids, game_ids: valuesOf('game_id='), languages: valuesOf('language=') }
  return { ...filters, first, after: parameter(search, 'after') }
}

/** The same that Strand binds its cursors to. */
function bindingOf({ game_ids, languages, user_ids }: Asked, caller: LeastCaller | undefined): string {
  const filters: [string, string[]][] = []
  if (game_ids !== undefined) filters.push(['game_id', game_ids.toSorted()])
  if (languages !== undefined) filters.push(['language', languages.toSorted()])
  if (user_ids !== undefined) filters.push(['user_id', user_ids.toSorted()])
  const owner = caller === undefined ? 'anonymous' : `user ${caller.client_id} ${caller.user_id}`
  return JSON.stringify(['GetStreams', filters, owner])
}
