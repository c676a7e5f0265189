import { Command } from 'commander'
import { CannotStart } from '../kit/cannot-start.ts'
import { print } from './print.ts'
import { Progress } from './progress.ts'
import { openExistingStore, type StoreFlags, storeFlags } from './store-flags.ts'

interface VerifyFlags extends StoreFlags {
  readonly json: boolean
}

export const auditVerifyCommand = storeFlags(new Command('verify'))
  .description('prove that no row of the audit log was altered, taken out or put in')
  .option('--json', 'the result as one line of JSON', false)
  .addHelpText(
    'after',
    `
The server may run meanwhile. It ends with 1 and names the first row that is wrong, if one is. The hashes that it prints
stand for everything up to there: keep them somewhere else, and nobody can rewrite the log without your noticing.

Examples:
  strand audit verify
  strand audit verify --data /var/lib/strand --json`,
  )
  .action(verify)

async function verify(flags: VerifyFlags): Promise<void> {
  const store = await openExistingStore(flags)
  try {
    const progress = new Progress('Verifying', { unit: 'rows', total: await store.audit.size() })
    const verdict = await store.audit.verify(rows => progress.reach(rows))
    progress.end()
    if (flags.json) await print(`${JSON.stringify(verdict)}\n`)
    if ('flaw' in verdict) {
      const { chain, seq, why } = verdict.flaw
      throw new CannotStart(`the audit log is broken at row ${seq} of the chain "${chain}": ${why}`)
    }
    if (flags.json) return
    const lines = verdict.heads.map(({ chain, seq, hash }) => `${chain}  ${seq}  ${hash}`)
    const chains = lines.length === 1 ? '1 chain' : `${lines.length} chains`
    const rows = verdict.rows === 1 ? '1 row' : `${verdict.rows} rows`
    await print([`The audit log is whole: ${rows} in ${chains}.`, ...lines, ''].join('\n'))
  } finally {
    await store.close()
  }
}
