import type { Walk } from '../judge/walks.ts'
import type { Caller } from './caller.ts'

/** Goes through all pages of the directory. */
export async function walkDirectory(caller: Caller, first: number): Promise<Walk> {
  const shown: string[] = []
  const servers: string[] = []
  let after = ''
  for (;;) {
    const page = await caller.ask('walk', 'GET', `/helix/streams?first=${first}${after}`)
    servers.push(page.server)
    if (page.status !== 200) return { shown, servers, whole: false }
    for (const row of page.body.data) shown.push(row.user_id)
    const { cursor } = page.body.pagination
    if (cursor === undefined) return { shown, servers, whole: true }
    after = `&after=${encodeURIComponent(cursor)}`
  }
}
