import {
  createBenefit,
  deleteBenefit,
  getBenefit,
  listBenefits,
  putBenefit,
} from '../../contract/control/benefits.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { uuid } from '../../kit/id.ts'
import { idSortKey } from '../../store/keyset-order.ts'
import type { Store } from '../../store/store.ts'
import { answerOne, answerPage, implement } from '../implement.ts'

export const handleCreateBenefit = implement(createBenefit, async ({ body }, { store }) => {
  const created = await saveBenefit(store, uuid(), body)
  // Another organization has the same random id; a retry generates a new one.
  return isRefusal(created) && created.problem === 'in_use' ? refuse('unavailable') : answerOne(created)
})

export const handlePutBenefit = implement(putBenefit, async ({ params, body }, { store }) =>
  answerOne(await saveBenefit(store, params.benefit_id.toLowerCase(), body)),
)

function saveBenefit(
  store: Store,
  id: string,
  { name, organization_id, game_id }: { name?: string; organization_id?: string; game_id?: string | null },
) {
  return store.commands.putBenefit({ id, name, organization_id: organization_id?.toLowerCase(), game_id })
}

export const handleGetBenefit = implement(getBenefit, async ({ params }, { store }) =>
  answerOne(
    (await store.benefits.find(params.benefit_id)) ?? refuse('not_found', 'benefit', params.benefit_id),
  ),
)

export const handleListBenefits = implement(listBenefits, async ({ query, window, paginate }, { store }) =>
  answerPage(await store.benefits.page(query, window), idSortKey, paginate),
)

export const handleDeleteBenefit = implement(deleteBenefit, ({ params }, { store }) =>
  store.commands.deleteBenefit({ id: params.benefit_id.toLowerCase() }),
)
