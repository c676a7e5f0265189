import { Directory } from '../../../src/directory/directory.ts'
import { rankKey } from '../../../src/directory/stream-page.ts'
import { feedQueries } from '../../../src/store/queries/feed.ts'
import { streamQueries } from '../../../src/store/queries/streams.ts'
import { openSqlite, sqliteDatabase } from '../../../src/store/sqlite/sqlite-connection.ts'
import { type LeastOperation, onlyValue } from './operation.ts'

const PAGE = 20
const MAX_PAGE = 100

/**
 * The first page of all, which is kept as Strand keeps it, or of one user. The directory is as it is now; nothing keeps it in
 * step with the store.
 */
export const getStreams: LeastOperation = async ({ storeFile, publicUrl, cursors }) => {
  const db = sqliteDatabase(openSqlite(storeFile, 'read'))
  const directory = new Directory({ publicUrl })
  directory.reload(await streamQueries(db).live(), await feedQueries(db).head())
  db.close()
  const pageOf = (search: string) => {
    const isTop = search === ''
    const filters = { user_ids: isTop ? undefined : [onlyValue(search)] }
    const first = isTop ? PAGE : MAX_PAGE
    const { rows, more, cursorState } = directory.page(filters, { first, direction: 'forward' })
    const [top, bottom] = [rows[0], rows.at(-1)]
    let text = '{"data":['
    for (const row of rows) text += row === top ? row.json : `,${row.json}`
    if (!more || top === undefined || bottom === undefined) return `${text}],"pagination":{}}`
    const ends = { first: rankKey(top), last: rankKey(bottom), cursorState }
    return `${text}],"pagination":{"cursor":"${cursors.seal(ANYONE, ends)}"}}`
  }
  const top = pageOf('')
  return search => (search === '' ? top : pageOf(search))
}

/** What Strand binds the cursor of the top page to. */
const ANYONE = JSON.stringify(['GetStreams', [], 'anonymous'])
