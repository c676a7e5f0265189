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

/** Looks up each row once per page. */
export class References {
  readonly #api: OperatorApi
  readonly #names = new Map<string, Promise<string | undefined>>()

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
        return rows.map(async row => {
          const id = row[column]
          if (typeof id !== 'string' || id === '' || names.has(`${column} ${id}`)) return
          const name = await this.#findName(resource, id)
          if (name !== undefined) names.set(`${column} ${id}`, name)
        })
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

  /** The id of the row that a text means: an id, or the name that people know. Other texts are returned unchanged. */
  async findId(field: string, text: string): Promise<string> {
    const resource = findReferenced(field)
    if (resource === undefined || ID.test(text)) return text
    const { list, findBy, key, name } = resource
    const filter = findBy === undefined ? { first: MAX_OFFERED } : { [findBy]: text }
    const { data } = await this.#api.rows(list, filter)
    const found = findBy === undefined ? data.find(row => row[name] === text) : data[0]
    return found === undefined ? text : String(found[key])
  }

  /** The rows to offer for a field; none if there may be very many. */
  async offersFor(field: string): Promise<readonly (readonly [id: string, name: string])[]> {
    const resource = findReferenced(field)
    if (resource === undefined || resource.path === 'users') return []
    const { data } = await unlessRefused({ data: [] }, () =>
      this.#api.rows(resource.list, { first: MAX_OFFERED }),
    )
    return data.map(row => [String(row[resource.key]), String(row[resource.name])])
  }
}
