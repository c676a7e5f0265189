import type { Window } from '../../../src/contract/page.ts'
import { loadDirectory, pageText } from './live-streams.ts'
import type { LeastCaller, LeastOperation } from './operation.ts'

const MAX_PAGE = 100

export const getStreams: LeastOperation = async services => {
  const directory = await loadDirectory(services)
  return (search, caller) => {
    const asked = readSearch(search)
    const binding = () => bindingOf(asked, caller)
    const bookmark = asked.after === undefined ? undefined : services.cursors.open(binding(), asked.after)
    const window: Window = {
      first: asked.first,
      direction: 'forward',
      ...(bookmark && { from: bookmark.last, ...(bookmark.memory && { memory: bookmark.memory }) }),
    }
    return pageText(services, directory.page(asked, window), binding)
  }
}

interface Asked {
  user_ids?: string[]
  game_ids?: string[]
  languages?: string[]
  first: number
  after?: string
}

function readSearch(search: string): Asked {
  const asked: Asked = { first: 20 }
  for (let start = 0; start < search.length; ) {
    const ampersand = search.indexOf('&', start)
    const end = ampersand < 0 ? search.length : ampersand
    const equals = search.indexOf('=', start)
    const [name, value] = [search.slice(start, equals), search.slice(equals + 1, end)]
    if (name === 'user_id') {
      asked.user_ids = [...(asked.user_ids ?? []), value]
      asked.first = MAX_PAGE
    } else if (name === 'game_id') asked.game_ids = [...(asked.game_ids ?? []), value]
    else if (name === 'language') asked.languages = [...(asked.languages ?? []), value]
    else if (name === 'first') asked.first = Number(value)
    else if (name === 'after') asked.after = value
    start = end + 1
  }
  return asked
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
