import { Command, Option } from 'commander'
import { OperatorError } from '../../kit/operator-error.ts'
import { type StoreFlags, settingsOfExistingStore, storeFlags, withStore } from '../store-flags.ts'
import { invalid } from '../terminal/flag-values.ts'
import { counted, print } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'

interface VerifyFlags extends StoreFlags {
  readonly expect: readonly ExpectedPoint[]
  readonly afterRetention?: boolean
  readonly json?: boolean
}

interface ExpectedPoint {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}

export const auditVerifyCommand = storeFlags(new Command('verify'))
  .description('verify that no row of the audit log was changed, removed or inserted')
  .addOption(
    new Option('--expect <chain:seq:hash>', 'line printed by an earlier run, to verify again; repeatable')
      .argParser((text, before: readonly ExpectedPoint[]) => [
        ...before,
        ...text.trim().split(/\s+/).map(readPoint),
      ])
      .default([], 'none'),
  )
  .option(
    '--after-retention',
    'accept chains that do not begin with row 1, although STRAND_KEEP_AUDIT_DAYS is 0 now',
  )
  .option('--json', 'print the result as one line of JSON')
  .addHelpText(
    'after',
    `
The server can keep running. If a row is wrong, the command prints it and exits with code 1. Each printed hash covers all
rows up to that point: to detect a rewritten log later, store the lines elsewhere and pass them with --expect. Rows that
are no longer retained cannot be checked, which is reported. Without retention (STRAND_KEEP_AUDIT_DAYS=0) every chain must
begin with row 1; if retention was on before, pass --after-retention and compare where chains begin with earlier runs.

Examples:
  strand audit verify
  strand audit verify | tail -n +2 > kept-elsewhere
  strand audit verify --expect "$(cat kept-elsewhere)"
  strand audit verify --data /var/lib/strand --json`,
  )
  .action(verify)

async function verify(flags: VerifyFlags): Promise<void> {
  const settings = settingsOfExistingStore(flags)
  const keepsAll = settings.keep.auditDays === 0 && !flags.afterRetention
  const result = await withStore(settings, async store => {
    const progress = new Progress('Verifying', { unit: 'rows', total: await store.audit.size() })
    progress.reach(0)
    const found = await store.audit.verify(rows => progress.reach(rows), flags.expect, { keepsAll })
    progress.end()
    return found
  })
  if (flags.json) await print(`${JSON.stringify(result)}\n`)
  if ('flaw' in result) {
    const { chain, seq, why } = result.flaw
    throw new OperatorError(`the audit log is broken at row ${seq} of the chain "${chain}": ${why}`)
  }
  for (const { chain, seq } of result.unrecorded ?? []) {
    process.stderr.write(`Row ${seq} of the chain "${chain}" is no longer kept and cannot be checked.\n`)
  }
  for (const { chain, seq } of result.beginnings ?? []) {
    process.stderr.write(`The chain "${chain}" begins with row ${seq}; earlier rows were removed.\n`)
  }
  if (flags.json) return
  const lines = result.heads.map(({ chain, seq, hash }) => `${chain}:${seq}:${hash}`)
  const found = `${counted(result.rows, 'row')} in ${counted(lines.length, 'chain')}`
  await print([`The audit log is intact: ${found}.`, ...lines, ''].join('\n'))
}

function readPoint(text: string): ExpectedPoint {
  const [, chain = '', seq = '', hash = ''] = /^([^:\s]+):([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (chain === '') throw invalid('--expect', 'must be a line that strand audit verify printed')
  return { chain, seq: Number(seq), hash }
}
