/** @jsxRuntime automatic @jsxImportSource preact */
/** The findings of the doctor, problems first. */
import type { Page } from '../../render/page.ts'
import { Status } from '../cells.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import type { DoctorFinding } from '../services.ts'
import { PlainTable, TableFrame } from '../table.tsx'

const LEVELS = ['problem', 'warning', 'note', 'ok'] as const

export function doctorPage(context: ConsoleContext, findings: readonly DoctorFinding[]): Page {
  const count = (level: DoctorFinding['level']) => findings.filter(each => each.level === level).length
  const sorted = findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
  return consolePage(context, {
    title: 'Doctor',
    section: 'doctor',
    body: (
      <>
        <p class="quiet summary num">
          {count('problem')} problems, {count('warning')} warnings, {findings.length} checks of this node. The
          integrity of the store is checked by <code>strand doctor</code> and <code>strand verify</code>.
        </p>
        <TableFrame title="Findings">
          <PlainTable
            className="findings"
            items={sorted}
            itemKey={({ about, message }) => `${about} ${message}`}
            columns={[
              ['Level', ({ level }) => <Status value={level} />],
              ['About', ({ about }) => about],
              [
                'Finding',
                ({ message, advice }) => [message, advice && <p class="quiet">{advice}</p>],
                'wrap',
              ],
            ]}
          />
        </TableFrame>
      </>
    ),
  })
}
