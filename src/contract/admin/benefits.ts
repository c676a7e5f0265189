import { createBenefit, deleteBenefit, getBenefit, listBenefits, putBenefit } from '../control/benefits.ts'
import { listEntitlements } from '../control/entitlements.ts'
import { LANTERN, REEF } from './examples.ts'
import { action, createForm, editForm, type Resource, removeForm } from './resource.ts'

const COMPASS = '1f0e8f3b-0c1d-4a52-8a4e-5d5c2b8f9a10'

const create = action('create', createBenefit, [`"Pearl diver" --org ${REEF} --game 33214`], {
  arguments: ['name'],
  form: createForm('Create benefit', 'The benefit was created.'),
})
const set = action(
  'set',
  putBenefit,
  [
    `${LANTERN} --name "Coral lantern" --org ${REEF} --game 33214`,
    `${COMPASS} --name "Brass compass" --org ${REEF} --no-game`,
  ],
  { form: editForm(getBenefit, 'The benefit was changed.', { omit: ['organization_id'] }) },
)
const list = action('list', listBenefits, [`--org ${REEF}`], {
  terminalColumns: ['id', 'name', 'game_id', 'organization_id'],
})
const show = action('show', getBenefit, [LANTERN])
const remove = action('delete', deleteBenefit, [`${COMPASS} --yes`], {
  confirm: 'final',
  form: removeForm('The benefit was deleted.'),
})

export const benefits: Resource = {
  nouns: [
    {
      words: 'benefit',
      meaning: 'benefits that entitlements grant',
      actions: [create, set, list, show, remove],
    },
  ],
  tables: [
    {
      path: 'benefits',
      title: 'Benefits',
      one: 'benefit',
      group: 'Drops',
      list: listBenefits,
      get: getBenefit,
      key: 'id',
      name: 'name',
      columns: ['name', 'organization_id', 'game_id', 'id'],
      empty: 'There are no benefits. They are the rewards that entitlements grant.',
      create,
      actions: [set, remove],
      parts: [{ title: 'Entitlements', operation: listEntitlements, by: 'benefit_id', of: 'entitlements' }],
    },
  ],
}
