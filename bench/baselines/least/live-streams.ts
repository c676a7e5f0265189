import { Directory } from '../../../src/directory/directory.ts'
import { rankKey, type StreamPage } from '../../../src/directory/stream-page.ts'
import { feedQueries } from '../../../src/store/queries/feed.ts'
import { streamQueries } from '../../../src/store/queries/streams.ts'
import { openSqlite, sqliteDatabase } from '../../../src/store/sqlite/sqlite-connection.ts'
import { type LeastServices, paginationText } from './operation.ts'

/** The directory as it is now; nothing keeps it in step with the store. */
export async function loadDirectory({ storeFile, publicUrl }: LeastServices): Promise<Directory> {
  const db = sqliteDatabase(openSqlite(storeFile, 'read'))
  const directory = new Directory({ publicUrl })
  directory.reload(await streamQueries(db).live(), await feedQueries(db).head())
  db.close()
  return directory
}

/** A page as JSON. The binding is made only if there is a cursor to make. */
export function pageText({ cursors }: LeastServices, page: StreamPage, binding: () => string): string {
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
