import type { PageRequest } from '../../../src/contract/page.ts'
import { Directory } from '../../../src/directory/directory.ts'
import type { Channel } from '../../../src/directory/live-rows.ts'
import { rankKey, type StreamPage } from '../../../src/directory/stream-page.ts'
import { feedQueries } from '../../../src/store/queries/feed.ts'
import { streamQueries } from '../../../src/store/queries/streams.ts'
import { openSqlite, sqliteDatabase } from '../../../src/store/sqlite/sqlite-connection.ts'
import {
  type LeastCaller,
  type LeastOperation,
  type LeastServices,
  PAGE,
  paginationText,
  parameter,
} from './operation.ts'

/** The directory as it is now; nothing keeps it in step with the store. */
async function loadDirectory({ storeFile, publicUrl }: LeastServices): Promise<Directory> {
  const db = sqliteDatabase(openSqlite(storeFile, 'read'))
  const directory = new Directory({ publicUrl })
  directory.reload(await streamQueries(db).live(), await feedQueries(db).head())
  db.close()
  return directory
}

/** A page as JSON. The binding is made only if there is a cursor to make. */
function pageText({ cursors }: LeastServices, page: StreamPage, binding: () => string): string {
  const { rows, more, cursorState } = page
  const [top, bottom] = [rows[0], rows.at(-1)]
  let text = '{"data":['
  for (const row of rows) text += row === top ? row.json : `,${row.json}`
  const cursor =
    more && top !== undefined && bottom !== undefined
      ? cursors.seal(binding(), { first: rankKey(top), last: rankKey(bottom), cursorState })
      : undefined
  return `${text}],${paginationText(cursor)}`
}

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

const FIRST_PAGE = { first: 100, direction: 'forward' } as const

/** Whom a user follows is read when first asked for, and kept. */
export const getFollowedStreams: LeastOperation = async services => {
  const directory = await loadDirectory(services)
  const known = new Map<string, readonly Channel[]>()
  const followsOf = services.reader.all<{ broadcaster_id: string }>(
    'select broadcaster_id from follows where user_id = ?',
  )
  const lookUp = (user_id: string) => {
    const channels = directory.keepChannels(followsOf(user_id).map(row => row.broadcaster_id))
    known.set(user_id, channels)
    return channels
  }
  return (search, caller) => {
    const user_id = parameter(search, 'user_id')
    if (user_id === undefined || user_id !== caller?.user_id) throw new Error('not their own')
    const page = directory.pageOfChannels(known.get(user_id) ?? lookUp(user_id), FIRST_PAGE)
    return pageText(services, page, () =>
      JSON.stringify([
        'GetFollowedStreams',
        [['user_id', user_id]],
        `user ${caller.client_id} ${caller.user_id}`,
      ]),
    )
  }
}
