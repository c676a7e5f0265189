import { hashToken, mintSecret } from '../../auth/tokens.ts'
import { createOperator, deleteOperator, listOperators } from '../../contract/control/operators.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { operatorSortKey } from '../../store/queries/operators.ts'
import { answerPage, implement } from '../implement.ts'

export const handleCreateOperator = implement(createOperator, async ({ body }, { store, clock }) => {
  const { name } = body
  const token = mintSecret('operator')
  const created_at = isoMillis(clock.now())
  const refused = await store.commands.createOperator({ name, hash: hashToken(token), created_at })
  return refused ?? { data: [{ name, token, created_at }] }
})

export const handleListOperators = implement(listOperators, async ({ window, paginate }, { store }) =>
  answerPage(await store.operators.page(window), operatorSortKey, paginate),
)

export const handleDeleteOperator = implement(deleteOperator, ({ params }, { store }) =>
  store.commands.deleteOperator(params),
)
