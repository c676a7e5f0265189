/**
 * Entitlements as they are stored: there may be billions, so a row is as short as both engines allow. Everything else in the
 * program has them as the contract does; this file converts.
 */
import type { Entitlement, FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { uuidText } from '../../kit/uuid.ts'
import type { Database } from '../database.ts'
import { type Parameter, type Sql, sql, verbatim } from '../sql/tag.ts'

/** An entitlement and the organization it belongs to. */
export type OwnedEntitlement = Entitlement & { readonly organization_id: string }

/** A row as the engines return it: SQLite has no type for UUIDs, and PostgreSQL returns large integers as text. */
export interface EntitlementRow {
  readonly organization: number
  readonly timestamp: number | string
  readonly id: Uint8Array | string
  readonly last_updated: number | string
  readonly benefit: number
  readonly fulfilled: number
  readonly user_id: string
  readonly game_id: string
}

const entitlementColumns = sql`organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id`
export const entitlementRows = sql`select ${entitlementColumns} from organization_entitlements`

export const readUuid = (id: Uint8Array | string): string => (typeof id === 'string' ? id : uuidText(id))
export const readTime = (milliseconds: number | string): string => isoMillis(Number(milliseconds))
export const readStatus = (fulfilled: number): FulfillmentStatus =>
  fulfilled === 1 ? 'FULFILLED' : 'CLAIMED'
export const storedStatus = (status: FulfillmentStatus): number => Number(status === 'FULFILLED')

/** The number of an organization or benefit; null if it has no entitlements. A sum, because indexes have sums. */
export const organizationNumber = (organization_id: string | Parameter): Sql =>
  sql`(select number + 0 from entitlement_organizations where organization_id = ${organization_id})`
export const benefitNumber = (benefit_id: string | Parameter): Sql =>
  sql`(select number + 0 from entitlement_benefits where benefit_id = ${benefit_id})`

/** Ids of organizations or benefits by their numbers, which never change. Bounded, though few stores have so many. */
const MAX_NAMES = 100_000

class Names {
  readonly #names = new Map<number, string>()
  readonly #db: Database
  readonly #query: Sql

  constructor(db: Database, kind: 'organization' | 'benefit') {
    this.#db = db
    this.#query = verbatim(`select ${kind}_id as id from entitlement_${kind}s`)
  }

  /** The ids behind these numbers; undefined if one is not in memory. Nearly always all are. */
  known(numbers: readonly number[]): string[] | undefined {
    const ids: string[] = []
    for (const number of numbers) {
      const id = this.#names.get(number)
      if (id === undefined) return undefined
      ids.push(id)
    }
    return ids
  }

  async learn(numbers: readonly number[]): Promise<string[]> {
    const ids: string[] = []
    for (const number of numbers) ids.push(this.#names.get(number) ?? (await this.#read(number)))
    return ids
  }

  async #read(number: number): Promise<string> {
    const row = await this.#db.get<{ id: string }>(sql`${this.#query} where number = ${number}`)
    const { id } = assertDefined(row, `the id behind the number ${number}`)
    if (this.#names.size === MAX_NAMES) this.#names.clear()
    this.#names.set(number, id)
    return id
  }
}

/** Converts rows, and remembers the ids behind their numbers. */
export class EntitlementReader {
  readonly #organizations: Names
  readonly #benefits: Names

  constructor(db: Database) {
    this.#organizations = new Names(db, 'organization')
    this.#benefits = new Names(db, 'benefit')
  }

  async read(rows: readonly EntitlementRow[]): Promise<Entitlement[]> {
    const benefits = this.#benefitsOf(rows) ?? (await this.#learnBenefits(rows))
    return rows.map((row, n) => toEntitlement(row, benefits[n] ?? ''))
  }

  async readOwned(rows: readonly EntitlementRow[]): Promise<OwnedEntitlement[]> {
    const numbers = rows.map(row => row.organization)
    const owners = this.#organizations.known(numbers) ?? (await this.#organizations.learn(numbers))
    const benefits = this.#benefitsOf(rows) ?? (await this.#learnBenefits(rows))
    return rows.map((row, n) => {
      return { ...toEntitlement(row, benefits[n] ?? ''), organization_id: owners[n] ?? '' }
    })
  }

  /** The rows as JSON. */
  async prepare(rows: readonly EntitlementRow[]): Promise<PreparedEntitlement[]> {
    return (await this.read(rows)).map(preparedEntitlement)
  }

  #benefitsOf(rows: readonly EntitlementRow[]): string[] | undefined {
    return this.#benefits.known(rows.map(row => row.benefit))
  }

  #learnBenefits(rows: readonly EntitlementRow[]): Promise<string[]> {
    return this.#benefits.learn(rows.map(row => row.benefit))
  }
}

/** An entitlement as JSON. */
interface PreparedEntitlement {
  readonly json: string
}

/**
 * An entitlement as JSON, which takes half as long as serializing it. Nothing in it needs escaping: ids of users and games are
 * decimal, those of benefits UUIDs.
 */
export function preparedEntitlement(entitlement: Entitlement): PreparedEntitlement {
  const { id, benefit_id, timestamp, user_id, game_id, fulfillment_status, last_updated } = entitlement
  return {
    json: `{"id":"${id}","benefit_id":"${benefit_id}","timestamp":"${timestamp}","user_id":"${user_id}","game_id":"${game_id}","fulfillment_status":"${fulfillment_status}","last_updated":"${last_updated}","updated_at":"${last_updated}"}`,
  }
}

export function toEntitlement(row: EntitlementRow, benefit_id: string): Entitlement {
  const timestamp = readTime(row.timestamp)
  const last_updated = row.last_updated === row.timestamp ? timestamp : readTime(row.last_updated)
  return {
    id: readUuid(row.id),
    benefit_id,
    timestamp,
    user_id: row.user_id,
    game_id: row.game_id,
    fulfillment_status: readStatus(row.fulfilled),
    last_updated,
    updated_at: last_updated,
  }
}
