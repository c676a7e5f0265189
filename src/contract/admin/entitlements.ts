import {
  getEntitlement,
  getEntitlementHistory,
  grantEntitlements,
  listEntitlements,
} from '../control/entitlements.ts'
import { LANTERN, REEF } from './examples.ts'
import { action, createForm, type Resource } from './resource.ts'

const ENTITLEMENT = 'fb78259e-fb81-4d1b-8333-34a06ffc24c0'

const grant = action(
  'grant',
  grantEntitlements,
  [`--user brave_newt --benefit ${LANTERN} --game 33214 --id ${ENTITLEMENT}`, '--body grants.json --json'],
  {
    bulk: 'grants',
    form: createForm('Grant entitlements', 'The entitlements were granted.', {
      each: 'user_id',
      omit: ['id', 'timestamp'],
    }),
  },
)
const list = action(
  'list',
  listEntitlements,
  ['--user brave_newt --fulfillment-status CLAIMED', `--org ${REEF} --all`],
  {
    columns: ['id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status', 'timestamp'],
    terminalColumns: ['id', 'user_id', 'benefit_id', 'game_id', 'fulfillment_status', 'timestamp'],
  },
)
const show = action('show', getEntitlement, [ENTITLEMENT])
const history = action('history', getEntitlementHistory, [ENTITLEMENT])

export const entitlements: Resource = {
  nouns: [
    {
      words: 'entitlement',
      meaning: 'drops entitlements of users',
      actions: [grant, list, show, history],
    },
  ],
  tables: [
    {
      path: 'entitlements',
      title: 'Entitlements',
      one: 'entitlement',
      group: 'Drops',
      list: listEntitlements,
      get: getEntitlement,
      key: 'id',
      name: 'id',
      columns: ['id', 'fulfillment_status', 'user_id', 'benefit_id', 'game_id', 'timestamp', 'last_updated'],
      filters: ['user_id', 'benefit_id', 'game_id', 'organization_id', 'fulfillment_status'],
      glance: 'fulfillment_status',
      empty: 'No entitlements have been granted.',
      create: grant,
      parts: [{ title: 'History', operation: getEntitlementHistory, by: 'entitlement_id' }],
    },
  ],
}
