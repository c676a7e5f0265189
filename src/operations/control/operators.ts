import { hashOf, mintSecret } from '../../auth/tokens.ts'
import { createOperator, deleteOperator, listOperators } from '../../contract/control/operators.ts'
import { raise } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import { operatorSortKey } from '../../store/queries/operators.ts'
import { implement } from '../implement.ts'

export const handleCreateOperator = implement(createOperator, async ({ body }, { store, clock }) => {
  const { name } = body
  const token = mintSecret('operator')
  const created_at = isoMillis(clock.now())
  const outcome = await store.commands.createOperator({ name, hash: hashOf(token), created_at })
  return outcome === 'done' ? { data: [{ name, token, created_at }] } : raise('taken', 'name', name)
})

export const handleListOperators = implement(listOperators, async ({ window, paginate }, { store }) => {
  const page = await store.operators.page(window)
  return { data: [...page.rows], pagination: paginate(page, operatorSortKey) }
})

export const handleDeleteOperator = implement(deleteOperator, async ({ params }, { store }) => {
  const gone = await store.commands.deleteOperator(params)
  return gone ? undefined : raise('name_not_found', 'operator', params.name)
})
