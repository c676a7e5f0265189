/** @jsxRuntime automatic @jsxImportSource preact */
/** The verification of the audit log. */
import type { AuditVerdict } from '../../../store/queries/audit-verification.ts'
import type { Store } from '../../../store/store.ts'
import type { Page } from '../../render/page.ts'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import { consolePath } from '../paths.ts'
import { PlainTable, TableFrame } from '../table.tsx'

let running: Promise<AuditVerdict> | undefined

/** Reads the whole log; those who ask meanwhile get the same answer. */
export function verifyAudit({ audit }: Pick<Store, 'audit'>, keepsAll: boolean): Promise<AuditVerdict> {
  running ??= audit.verify(undefined, [], { keepsAll }).finally(() => {
    running = undefined
  })
  return running
}

const firstRow = ({ beginnings = [] }: Extract<AuditVerdict, { rows: number }>, chain: string) =>
  beginnings.find(each => each.chain === chain)?.seq ?? 1

export function verifiedPage(context: ConsoleContext, verdict: AuditVerdict): Page {
  const flaw = 'flaw' in verdict ? verdict.flaw : undefined
  return consolePage(context, {
    title: flaw === undefined ? 'The audit log is intact' : 'The audit log was altered',
    section: 'audit',
    trail: [['Audit log', consolePath('audit')]],
    body:
      'flaw' in verdict ? (
        <p class="notice bad" role="alert">
          Row {verdict.flaw.seq} of the chain {verdict.flaw.chain}: {verdict.flaw.why}.
        </p>
      ) : (
        <>
          <p class="notice good" role="status">
            {verdict.rows.toLocaleString('en-US')} rows in {verdict.heads.length}{' '}
            {verdict.heads.length === 1 ? 'chain' : 'chains'}: every hash fits its row and the row before it.
          </p>
          <p class="quiet">
            Keep the hashes elsewhere: <code>strand audit verify</code> can prove later that nothing before
            them was rewritten.
          </p>
          <TableFrame title="Ends of the chains">
            <PlainTable
              items={verdict.heads}
              itemKey={({ chain }) => chain}
              columns={[
                ['Chain', ({ chain }) => chain],
                ['First row', ({ chain }) => firstRow(verdict, chain), 'number'],
                ['Last row', ({ seq }) => seq, 'number'],
                ['Hash of the last row', ({ hash }) => <code>{hash}</code>],
              ]}
            />
          </TableFrame>
        </>
      ),
  })
}
