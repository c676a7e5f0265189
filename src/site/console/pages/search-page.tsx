/** @jsxRuntime automatic @jsxImportSource preact */
/** Finds rows of every resource by key, by the name that people know, and by the beginning of a name. */
import { tables } from '../../../contract/admin/index.ts'
import type { AdminTable } from '../../../contract/admin/resource.ts'
import type { PageAnswer } from '../../render/page.ts'
import { unlessRefused } from '../../scripts/refused.ts'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import type { OperatorApi, Row } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { findRow } from './row-page.tsx'

/** Found rows of a resource by key, with their names. */
interface Found {
  readonly resource: AdminTable
  readonly names: ReadonlyMap<string, string>
}

const MAX_FOUND = 10

export async function searchPage(
  context: ConsoleContext,
  api: OperatorApi,
  query: string,
): Promise<PageAnswer> {
  const text = query.trim()
  const found =
    text === '' ? [] : (await Promise.all(tables.map(each => findIn(api, each, text)))).filter(isAny)
  const [only, ...others] = found
  const [key] = only?.names.keys() ?? []
  if (only?.names.size === 1 && others.length === 0 && key !== undefined)
    return { goTo: consolePath(only.resource.path, key) }
  return consolePage(context, {
    title: 'Search',
    section: 'search',
    query,
    body:
      found.length === 0 ? (
        <p class="empty">
          {text === '' ? 'Type a name, a login or an ID.' : `Nothing is known by “${text}”.`}
        </p>
      ) : (
        found.map(({ resource, names }) => (
          <section key={resource.path} class="part">
            <div class="part-heading">
              <h2>{resource.title}</h2>
            </div>
            <ul class="found panel">
              {[...names].map(([id, name]) => (
                <li key={id}>
                  <a href={consolePath(resource.path, id)}>{name}</a>{' '}
                  {name !== id && <code class="id">{id}</code>}
                </li>
              ))}
            </ul>
          </section>
        ))
      ),
  })
}

const isAny = ({ names }: Found): boolean => names.size > 0

async function findIn(api: OperatorApi, resource: AdminTable, text: string): Promise<Found> {
  const { get, list, findBy, search, key, name } = resource
  const names = new Map<string, string>()
  const add = (row: Row, at = { key, name }) => names.set(String(row[at.key]), String(row[at.name]))
  if (get === undefined) return { resource, names }
  const exact = await findRow(api, resource, text)
  if (exact !== undefined) add(exact)
  await unlessRefused(undefined, async () => {
    if (findBy !== undefined)
      for (const row of (await api.rows(list, { [findBy]: text, first: MAX_FOUND })).data) add(row)
    if (search !== undefined)
      for (const row of (await api.rows(search.operation, { query: text, first: MAX_FOUND })).data)
        add(row, search)
  })
  return { resource, names }
}
