import {
  createBenefit,
  deleteBenefit,
  getBenefit,
  listBenefits,
  putBenefit,
} from '../../contract/control/benefits.ts'
import { raise } from '../../contract/problem.ts'
import { uuid } from '../../kit/id.ts'
import { idSortKey } from '../../store/queries/world.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleCreateBenefit = implement(createBenefit, async ({ body }, { store }) =>
  keepBenefit(store, uuid(), body),
)

export const handlePutBenefit = implement(putBenefit, async ({ params, body }, { store }) =>
  keepBenefit(store, params.benefit_id.toLowerCase(), body),
)

async function keepBenefit(
  store: Store,
  id: string,
  body: { name?: string; organization_id?: string; game_id?: string | null },
) {
  const result = await store.commands.putBenefit({
    id,
    name: body.name,
    organization_id: body.organization_id?.toLowerCase(),
    game_id: body.game_id,
  })
  switch (result.outcome) {
    case 'done':
      return { data: [result.benefit] }
    case 'field_missing':
      return raise('missing_parameter', result.field)
    case 'other_organization':
      return raise('in_use', 'A benefit stays with its organization; create a new one for the other.')
    case 'unknown_reference':
      return raise('unknown_reference', result.kind, result.id)
  }
}

export const handleGetBenefit = implement(getBenefit, async ({ params }, { store }) => {
  const benefit =
    (await store.benefits.find(params.benefit_id)) ?? raise('not_found', 'benefit', params.benefit_id)
  return { data: [benefit] }
})

export const handleListBenefits = implement(listBenefits, async ({ query, window, paginate }, { store }) => {
  const page = await store.benefits.page(query, window)
  return { data: [...page.rows], pagination: paginate(page, idSortKey) }
})

export const handleDeleteBenefit = implement(deleteBenefit, async ({ params }, { store }) => {
  const outcome = await store.commands.deleteBenefit({ id: params.benefit_id.toLowerCase() })
  if (outcome === 'in_use') raise('in_use', 'The benefit was granted to somebody; it must stay.')
  return outcome === 'deleted' ? undefined : raise('not_found', 'benefit', params.benefit_id)
})
