import { reportViewers } from '../../contract/control/viewers.ts'
import { raise } from '../../contract/problem.ts'
import { implement } from '../implement.ts'

export const handleReportViewers = implement(reportViewers, async ({ bodyText }, { store }) => {
  const refused = await store.commands.takeViewerReport({ text: bodyText })
  if (refused !== undefined) raise(refused.violation.name, ...refused.violation.details)
  return undefined
})
