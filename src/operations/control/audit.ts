import { listAudit } from '../../contract/control/audit.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { auditSortKey } from '../../store/queries/audit-rows.ts'
import { answerPage, implement } from '../implement.ts'
import { toTimestamp } from '../timestamp.ts'

export const handleListAudit = implement(listAudit, async ({ query, window, paginate }, { store }) => {
  const { since, until, ...named } = query
  const page = await store.audit.page(
    {
      ...named,
      since: since === undefined ? undefined : isoMillis(toTimestamp(since)),
      until: until === undefined ? undefined : isoMillis(toTimestamp(until)),
    },
    window,
  )
  return answerPage(page, auditSortKey, paginate)
})
