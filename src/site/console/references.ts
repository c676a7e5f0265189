/** Ids that name rows of other resources: their names beside them, and names instead of them. */
import { fieldNamed, referencedTable } from '../../contract/admin/fields.ts'
import { tableAt } from '../../contract/admin/index.ts'
import { type AdminTable, getInput } from '../../contract/admin/resource.ts'
import { unlessRefused } from '../scripts/refused.ts'
import type { OperatorApi, Row } from './operator-api.ts'

/** The table that a field refers to. */
export const findReferenced = (field: string): AdminTable | undefined => tableAt(referencedTable(field) ?? '')

/** As many rows are offered for a field, or searched for a name. */
const MAX_OFFERED = 100

const ID = /^[0-9]+$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** So many values of a list are shown. */
export const MAX_SHOWN = 10

/** The values of a field, of which a list may have many. */
const listShown = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, MAX_SHOWN) : [value]

/** Looks up each row once per page. */
export class References {
  readonly #api: OperatorApi
  readonly #names = new Map<string, Promise<string | undefined>>()
  readonly #lists = new Map<string, Promise<readonly Row[]>>()

  constructor(api: OperatorApi) {
    this.#api = api
  }

  /** The names that rows bring along, by column and id. */
  static namesBeside(rows: readonly Row[], columns: readonly string[]): Map<string, string> {
    const pairs = columns.flatMap(column =>
      rows.flatMap(row => {
        const name = row[fieldNamed(column).nameIn ?? '']
        return typeof name === 'string' ? [[`${column} ${row[column]}`, name] as const] : []
      }),
    )
    return new Map(pairs)
  }

  /** The names of everything that these rows refer to in these columns, by column and id. */
  async namesIn(rows: readonly Row[], columns: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const names = References.namesBeside(rows, columns)
    await Promise.all(
      columns.flatMap(column => {
        const resource = findReferenced(column)
        if (resource === undefined) return []
        return rows.flatMap(row =>
          listShown(row[column]).map(async id => {
            if (typeof id !== 'string' || id === '' || names.has(`${column} ${id}`)) return
            const name = await this.#findName(resource, id)
            if (name !== undefined) names.set(`${column} ${id}`, name)
          }),
        )
      }),
    )
    return names
  }

  #findName(resource: AdminTable, id: string): Promise<string | undefined> {
    const key = `${resource.path} ${id}`
    const known =
      this.#names.get(key) ?? this.#find(resource, id).then(row => row && String(row[resource.name]))
    this.#names.set(key, known)
    return known
  }

  /** The row with this key. */
  async #find(resource: AdminTable, id: string): Promise<Row | undefined> {
    return resource.get && this.#api.find(resource.get, { [getInput(resource)]: id })
  }

  /**
   * The id of the row that a text means: an id, or the name that people know. Other texts are returned unchanged. A name of
   * something that organizations have is looked up in that of the form, if there is one.
   */
  async findId(field: string, text: string, organization_id?: string): Promise<string> {
    const resource = findReferenced(field)
    if (resource === undefined || ID.test(text)) return text
    const { list, findBy, key, name } = resource
    const rows =
      findBy === undefined
        ? await this.#list(resource, organization_id)
        : (await this.#api.rows(list, { [findBy]: text })).data
    const found = findBy === undefined ? rows.find(row => row[name] === text) : rows[0]
    return found === undefined ? text : String(found[key])
  }

  /** What people call the row with an id: its name, if that means no other row. */
  async findText(field: string, id: string, organization_id?: string): Promise<string> {
    const resource = findReferenced(field)
    const row = resource && (await this.#find(resource, id))
    const text = row?.[resource?.findBy ?? resource?.name ?? '']
    return typeof text === 'string' && (await this.findId(field, text, organization_id)) === id ? text : id
  }

  #list(resource: AdminTable, organization_id = ''): Promise<readonly Row[]> {
    const { list, path } = resource
    const isOwned = organization_id !== '' && Object.hasOwn(list.query?.properties ?? {}, 'organization_id')
    const key = `${path} ${isOwned ? organization_id : ''}`
    const input = { first: MAX_OFFERED, ...(isOwned && { organization_id }) }
    const rows = this.#lists.get(key) ?? this.#api.rows(list, input).then(({ data }) => data)
    this.#lists.set(key, rows)
    return rows
  }

  /** The rows to offer for a field; none if there may be very many. */
  async offersFor(field: string): Promise<readonly (readonly [id: string, name: string])[]> {
    const resource = findReferenced(field)
    if (resource === undefined || resource.path === 'users') return []
    const rows = await unlessRefused([], () => this.#list(resource))
    return rows.map(row => [String(row[resource.key]), String(row[resource.name])])
  }
}
