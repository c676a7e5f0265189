import { reportViewers } from '../../contract/control/viewers.ts'
import { isRefusal } from '../../contract/problem.ts'
import { createJsonReader } from '../../domain/input.ts'
import { lazy } from '../../kit/lazy.ts'
import { implement } from '../implement.ts'

const reader = lazy(() => createJsonReader(reportViewers.body))

export const handleReportViewers = implement(reportViewers, async ({ bodyText }, { store }) => {
  if (await store.commands.reportViewersFromJson({ text: bodyText })) return undefined
  const report = reader()(bodyText)
  if (isRefusal(report)) return report
  await store.commands.reportViewers({ counts: Object.entries(report.counts) })
  return undefined
})
