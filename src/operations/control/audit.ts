import { listAudit } from '../../contract/control/audit.ts'
import { isoMillis } from '../../kit/clock.ts'
import { auditKey } from '../../store/queries/audit.ts'
import { implement } from '../implement.ts'
import { momentOf } from '../moment.ts'

export const handleListAudit = implement(listAudit, async ({ query, window, paginate }, { store }) => {
  const { since, until, ...named } = query
  const page = await store.audit.page(
    {
      ...named,
      since: since === undefined ? undefined : isoMillis(momentOf(since)),
      until: until === undefined ? undefined : isoMillis(momentOf(until)),
    },
    window,
  )
  return { data: [...page.rows], pagination: paginate(page, auditKey) }
})
