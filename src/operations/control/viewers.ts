import { reportViewers } from '../../contract/control/viewers.ts'
import { implement } from '../implement.ts'

export const handleReportViewers = implement(reportViewers, async ({ body }, { store }) => {
  await store.commands.reportViewers({ counts: Object.entries(body.counts) })
  return undefined
})
