import type { FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { randomInteger } from '../../kit/random-integer.ts'
import type { Lookup, RowWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { rowInserts } from '../insert-rows.ts'
import { storedStatus } from '../queries/entitlement-rows.ts'
import { sql, uuidValue, verbatim } from '../sql/tag.ts'

/** An entitlement to be stored. */
export interface NewEntitlement {
  readonly id: string
  readonly organization_id: string
  readonly benefit_id: string
  readonly user_id: string
  readonly game_id: string
  readonly timestamp: string
  readonly fulfillment_status: FulfillmentStatus
  readonly last_updated: string
  /** The number of the campaign that it was earned in. */
  readonly campaign?: number | undefined
}

/** Adds entitlements that do not exist yet. */
export async function insertEntitlements(tx: Transaction, added: readonly NewEntitlement[]): Promise<void> {
  if (added.length === 0) return
  const organizations = await findNumbers(tx, 'organization', added)
  const benefits = await findNumbers(tx, 'benefit', added)
  await tx.write(
    newEntitlements,
    added.map(row => ({
      ...row,
      organization: assertDefined(organizations.get(row.organization_id), 'the number of an organization'),
      benefit: assertDefined(benefits.get(row.benefit_id), 'the number of a benefit'),
    })),
  )
}

type NumberedEntitlement = NewEntitlement & { readonly organization: number; readonly benefit: number }

const newEntitlements: RowWrite<readonly NumberedEntitlement[]> = lists =>
  rowInserts(
    'insert into organization_entitlements (organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id, campaign)',
    lists.flat(),
    row => [
      row.organization,
      Date.parse(row.timestamp),
      uuidValue(row.id),
      Date.parse(row.last_updated),
      row.benefit,
      storedStatus(row.fulfillment_status),
      row.user_id,
      row.game_id,
      row.campaign ?? null,
    ],
  )

const numbersIn = (kind: 'organization' | 'benefit'): Lookup<{ number: number; id: string }> => ({
  column: 'id',
  select: sql`select number, ${verbatim(`${kind}_id`)} as id from ${verbatim(`entitlement_${kind}s`)}`,
  by: verbatim(`${kind}_id`),
})

const NUMBERS = { organization: numbersIn('organization'), benefit: numbersIn('benefit') }

/** Four bytes on both engines. */
const MAX_NUMBER = 2 ** 31

/**
 * The numbers of organizations or benefits, assigned if they have none. A number is random, so that one that was lost with
 * a failed server is not assigned again: processes remember what a number means.
 */
export async function findNumbers<Kind extends 'organization' | 'benefit'>(
  tx: Transaction,
  kind: Kind,
  rows: readonly Readonly<Record<`${Kind}_id`, string>>[],
): Promise<Map<string, number>> {
  const ids = [...new Set(rows.map(row => row[`${kind}_id`]))].sort()
  const [table, column] = [verbatim(`entitlement_${kind}s`), verbatim(`${kind}_id`)]
  const known = await tx.lookUp(NUMBERS[kind], ids)
  const numbers = new Map(known.map(({ number, id }) => [id, number]))
  for (const id of ids) {
    if (numbers.has(id)) continue
    const number = randomInteger(1, MAX_NUMBER)
    await tx.run(sql`insert into ${table} (number, ${column}) values (${number}, ${id})`)
    numbers.set(id, number)
  }
  return numbers
}
