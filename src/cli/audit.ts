import { Command } from 'commander'
import { CannotStart } from '../kit/cannot-start.ts'
import { isoMillis, parseMoment } from '../kit/clock.ts'
import { CalledWrongly } from './called-wrongly.ts'
import { print } from './print.ts'
import { Progress } from './progress.ts'
import { openExistingStore, type StoreFlags, storeFlags } from './store-flags.ts'

type Store = Awaited<ReturnType<typeof openExistingStore>>
type Entry = Awaited<ReturnType<Store['audit']['page']>>['rows'][number]

interface VerifyFlags extends StoreFlags {
  readonly json: boolean
}

interface ListFlags extends VerifyFlags {
  readonly actor?: string
  readonly operation?: string
  readonly subject?: string
  readonly since?: string
  readonly until?: string
  readonly limit: string
}

const LARGEST_PAGE = 100

const verifyCommand = storeFlags(new Command('verify'))
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

const listCommand = storeFlags(new Command('list'))
  .description('show who changed what, newest first')
  .option('--actor <name>', 'such as operator/night-shift')
  .option('--operation <name>', 'such as DeleteUser')
  .option('--subject <name>', 'such as user/141981764')
  .option('--since <time>', 'from this moment on, such as 2026-03-01T00:00:00Z')
  .option('--until <time>', 'up to this moment')
  .option('--limit <rows>', 'how many rows at most', '20')
  .option('--json', 'the rows as one line of JSON', false)
  .addHelpText(
    'after',
    `
Examples:
  strand audit list
  strand audit list --operation DeleteUser --since 2026-03-01T00:00:00Z
  strand audit list --actor operator/night-shift --limit 100 --json`,
  )
  .action(list)

export const auditCommand = new Command('audit')
  .description('look through the log of changes, and prove that it is whole')
  .addCommand(verifyCommand)
  .addCommand(listCommand)

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

async function list(flags: ListFlags): Promise<void> {
  const { actor, operation, subject } = flags
  const filter = { actor, operation, subject, since: moment(flags, 'since'), until: moment(flags, 'until') }
  if (!/^[1-9][0-9]{0,5}$/.test(flags.limit)) {
    throw new CalledWrongly(`--limit takes a number from 1 to 999999, and not "${flags.limit}"`)
  }
  const store = await openExistingStore(flags)
  try {
    const entries = await newest(store, filter, Number(flags.limit))
    if (flags.json) await print(`${JSON.stringify({ data: entries })}\n`)
    else await print(entries.map(lineOf).join(''))
  } finally {
    await store.close()
  }
}

function moment(flags: ListFlags, name: 'since' | 'until'): string | undefined {
  const text = flags[name]
  if (text === undefined) return undefined
  const milliseconds = parseMoment(text)
  if (milliseconds !== undefined) return isoMillis(milliseconds)
  throw new CalledWrongly(`--${name} takes a time such as 2026-03-01T00:00:00Z, and not "${text}"`)
}

/** The newest rows, fetched page by page. */
async function newest(
  store: Store,
  filter: Parameters<Store['audit']['page']>[0],
  limit: number,
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (;;) {
    const last = entries.at(-1)
    const page = await store.audit.page(filter, {
      first: Math.min(LARGEST_PAGE, limit - entries.length),
      direction: 'forward',
      ...(last && { from: [last.at, last.chain, last.seq] }),
    })
    entries.push(...page.rows)
    if (!page.more || entries.length >= limit) return entries
  }
}

function lineOf({ at, actor, operation, subject, before, after }: Entry): string {
  return `${at}  ${actor}  ${operation}  ${subject}  ${JSON.stringify(before)} -> ${JSON.stringify(after)}\n`
}
