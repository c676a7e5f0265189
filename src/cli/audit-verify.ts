import { Command, InvalidArgumentError, Option } from 'commander'
import { OperatorError } from '../kit/operator-error.ts'
import { print } from './print.ts'
import { Progress } from './progress.ts'
import { openExistingStore, type StoreFlags, storeFlags } from './store-flags.ts'

interface VerifyFlags extends StoreFlags {
  readonly expect: readonly ExpectedPoint[]
  readonly json: boolean
}

interface ExpectedPoint {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}

export const auditVerifyCommand = storeFlags(new Command('verify'))
  .description('prove that no row of the audit log was altered, taken out or put in')
  .addOption(
    new Option('--expect <chain:seq:hash>', 'lines that it printed before must still be so; can be repeated')
      .argParser((text, before: readonly ExpectedPoint[]) => [
        ...before,
        ...text.trim().split(/\s+/).map(readPoint),
      ])
      .default([], 'none'),
  )
  .option('--json', 'the result as one line of JSON', false)
  .addHelpText(
    'after',
    `
The server may run meanwhile. It ends with 1 and names the first row that is wrong, if one is. The hashes that it prints
stand for everything up to there: keep the lines somewhere else and give them back with --expect, and nobody can rewrite
the log without your noticing. A row that is older than what is kept of the log cannot be told; that is said.

Examples:
  strand audit verify
  strand audit verify | tail -n +2 > kept-elsewhere
  strand audit verify --expect "$(cat kept-elsewhere)"
  strand audit verify --data /var/lib/strand --json`,
  )
  .action(verify)

async function verify(flags: VerifyFlags): Promise<void> {
  const store = await openExistingStore(flags)
  try {
    const progress = new Progress('Verifying', { unit: 'rows', total: await store.audit.size() })
    const verdict = await store.audit.verify(rows => progress.reach(rows), flags.expect)
    progress.end()
    if (flags.json) await print(`${JSON.stringify(verdict)}\n`)
    if ('flaw' in verdict) {
      const { chain, seq, why } = verdict.flaw
      throw new OperatorError(`the audit log is broken at row ${seq} of the chain "${chain}": ${why}`)
    }
    for (const { chain, seq } of verdict.unrecorded ?? []) {
      process.stderr.write(
        `Row ${seq} of the chain "${chain}" is no longer kept: whether it was as expected cannot be told.\n`,
      )
    }
    if (flags.json) return
    const lines = verdict.heads.map(({ chain, seq, hash }) => `${chain}:${seq}:${hash}`)
    const chains = lines.length === 1 ? '1 chain' : `${lines.length} chains`
    const rows = verdict.rows === 1 ? '1 row' : `${verdict.rows} rows`
    await print([`The audit log is whole: ${rows} in ${chains}.`, ...lines, ''].join('\n'))
  } finally {
    await store.close()
  }
}

function readPoint(text: string): ExpectedPoint {
  const [, chain = '', seq = '', hash = ''] = /^([^:\s]+):([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (chain === '') throw new InvalidArgumentError('Give a line as strand audit verify prints it.')
  return { chain, seq: Number(seq), hash }
}
