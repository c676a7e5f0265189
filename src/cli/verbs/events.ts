import { Argument, Command, Option } from 'commander'
import type { Client } from '../../client/index.ts'
import { EVENT_TYPES } from '../../contract/events/event-types.ts'
import type { StoredEvent } from '../../contract/resources/event.ts'
import { checkReceiver, sendSample } from '../../events/check-receiver.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_SECRET_FILE, readSmallFile } from '../../kit/small-file.ts'
import { findingTexts } from '../terminal/finding-text.ts'
import { httpUrl, invalid, wholeNumber } from '../terminal/flag-values.ts'
import { counted, print, printResult } from '../terminal/print.ts'
import { printable } from '../terminal/printable.ts'
import { longTime, utcFlag } from '../terminal/time.ts'
import { cut, widthOfTerminal } from '../terminal/width.ts'
import { UsageError } from '../usage-error.ts'
import { type TargetFlags, targetFlags, withTarget } from './target.ts'

const TYPE_NAMES = EVENT_TYPES.map(each => each.type)
const SECRET_NOTE = `
A secret given with --secret is visible in the list of processes; use one for testing, or --secret-file.`

interface SecretFlags {
  readonly secret?: string
  readonly secretFile?: string
}

const secretFlags = (command: Command): Command =>
  command
    .option('--secret <secret>', 'secret that messages are signed with')
    .option('--secret-file <file>', 'file with that secret')

function readSecret({ secret, secretFile }: SecretFlags): string {
  if ((secret === undefined) === (secretFile === undefined))
    throw new UsageError('give either --secret or --secret-file')
  const text = secret ?? readSmallFile(secretFile ?? '', MAX_SECRET_FILE).trim()
  if (/^[\x20-\x7e]{10,100}$/.test(text)) return text
  throw invalid(
    secret === undefined ? '--secret-file' : '--secret',
    'must be 10 to 100 printable ASCII characters',
  )
}

const typeNamed = (name: string) =>
  assertDefined(
    EVENT_TYPES.find(each => each.type === name),
    'an event type',
  )

interface TriggerFlags extends SecretFlags {
  readonly to: string
  readonly subject?: string
  readonly json?: boolean
}

export const eventTriggerCommand = secretFlags(
  new Command('trigger')
    .description('send one signed sample of an event to a receiver')
    .addArgument(new Argument('<type>', 'type of event').choices(TYPE_NAMES))
    .requiredOption('--to <url>', 'URL of the receiver', httpUrl('--to')),
)
  .option('--subject <id>', 'id of the broadcaster, user or organization; default: that of the example')
  .option('--json', 'print the answer as one line of JSON')
  .addHelpText(
    'after',
    `
Needs no server and no subscription. Exit code 0 if the receiver answered with 2xx, otherwise 1.
${SECRET_NOTE}

Examples:
  strand event trigger stream.online --to http://localhost:3000/events --secret "ten characters"
  strand event trigger drop.entitlement.grant --to http://localhost:3000/events --secret-file secret.txt`,
  )
  .action(async (name: string, flags: TriggerFlags) => {
    const began = performance.now()
    const receiver = { url: flags.to, secret: readSecret(flags), type: typeNamed(name) }
    const answer = await sendSample(receiver, {}, flags.subject)
    const milliseconds = Math.round(performance.now() - began)
    const { status } = answer
    if (status === undefined) throw new OperatorError(`the receiver did not answer: ${answer.failure}`)
    await printResult(flags, { status, milliseconds }, `${status} after ${milliseconds} ms`)
    if (status < 200 || status > 299) throw new OperatorError('the receiver did not take the event')
  })

export const eventVerifyCommand = secretFlags(
  new Command('verify')
    .description('check a receiver of webhooks: challenge, signatures, duplicates and old messages')
    .argument('<url>', 'URL of the receiver', httpUrl('<url>')),
)
  .addOption(
    new Option('--type <type>', 'type of event to send').choices(TYPE_NAMES).default('stream.online'),
  )
  .option('--json', 'print the findings as one line of JSON')
  .addHelpText(
    'after',
    `
Sends samples, some of them forged or too old. Exit code 0: no problems; 1: problems.
${SECRET_NOTE}

Examples:
  strand event verify http://localhost:3000/events --secret "ten characters"`,
  )
  .action(async (url: string, flags: SecretFlags & { readonly type: string; readonly json?: boolean }) => {
    const findings = await checkReceiver({ url, secret: readSecret(flags), type: typeNamed(flags.type) })
    const lines = findings.map(({ check, problem }) =>
      problem === undefined
        ? { level: 'ok' as const, text: check }
        : { level: 'problem' as const, text: `${check}: ${problem}` },
    )
    await printResult(flags, { findings }, findingTexts(lines).trimEnd())
    const problems = findings.filter(({ problem }) => problem !== undefined).length
    if (problems > 0) throw new OperatorError(`${counted(problems, 'problem')} found`)
  })

const POLL_MILLISECONDS = 500
const PAGE = 100
/** More than are listed on one page, where new events can be. */
const MAX_SEEN = 1000

interface TailFlags extends TargetFlags {
  readonly type?: string
  readonly lines: number
  readonly count?: number
  readonly utc?: boolean
  readonly json?: boolean
}

export const eventTailCommand = utcFlag(targetFlags(new Command('tail')))
  .description('print events as they happen, until stopped')
  .addOption(new Option('--type <type>', 'only this type').choices(TYPE_NAMES))
  .option('--lines <n>', 'print this many earlier events first', wholeNumber('--lines', 0, PAGE), 10)
  .option('--count <n>', 'stop after this many events', wholeNumber('--count', 1))
  .option('--json', 'print each event as one line of JSON')
  .addHelpText(
    'after',
    `
An event is stored, and printed, if a subscription matches it.

Examples:
  strand event tail
  strand event tail --type stream.online --json`,
  )
  .action((flags: TailFlags) => withTarget(flags, client => tail(client, flags)))

async function tail(client: Client, flags: TailFlags): Promise<void> {
  const seen = new Set<string>()
  let printed = 0
  for (let isFirst = true; ; isFirst = false) {
    const fresh = await unseen(client, flags.type, seen, isFirst)
    for (const { id } of fresh) seen.add(id)
    for (const oldest of seen) {
      if (seen.size <= MAX_SEEN) break
      seen.delete(oldest)
    }
    for (const event of isFirst ? fresh.slice(Math.max(fresh.length - flags.lines, 0)) : fresh) {
      await print(`${flags.json ? JSON.stringify(event) : formatEvent(event, flags.utc === true)}\n`)
      printed += 1
      if (printed === flags.count) return
    }
    await Bun.sleep(POLL_MILLISECONDS)
  }
}

/**
 * Events that were not seen, the oldest first; at first those of one page. Transactions commit in another order than they
 * number their events, so a new one may be listed behind those that were seen.
 */
async function unseen(
  client: Client,
  type: string | undefined,
  seen: ReadonlySet<string>,
  isFirst: boolean,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for await (const page of client.control.listEvents.pages({ first: PAGE, ...(type && { type }) })) {
    const fresh = page.data.filter(({ id }) => !seen.has(id))
    events.push(...fresh)
    if (isFirst || fresh.length < page.data.length) break
  }
  return events.reverse()
}

/** On a terminal in local time, and cut to its width. */
function formatEvent({ occurred_at, type, subject, event }: StoredEvent, utc: boolean): string {
  const width = widthOfTerminal(process.stdout)
  const time = width === undefined ? occurred_at : longTime(occurred_at, { utc })
  const line = `${time}  ${type.padEnd(25)}  ${subject}  ${printable(event)}`
  return width === undefined ? line : cut(line, width)
}
