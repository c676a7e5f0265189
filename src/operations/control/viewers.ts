import { reportViewers } from '../../contract/control/viewers.ts'
import { implement } from '../implement.ts'

export const handleReportViewers = implement(reportViewers, ({ bodyText }, { store }) =>
  store.commands.reportViewersFromJson({ text: bodyText }),
)
