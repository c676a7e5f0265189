import type { Command } from 'commander'
import { type Client, StrandError } from '../../client/index.ts'
import { familyOf, type Operation } from '../../contract/operation.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { requireConfirmation } from '../terminal/confirm.ts'
import { invalid } from '../terminal/flag-values.ts'
import { print } from '../terminal/print.ts'
import { UsageError } from '../usage-error.ts'
import { type Input, readInput } from './input.ts'
import { showThing, Table } from './show.ts'
import { openTarget, type TargetFlags } from './target.ts'
import { nameUsers } from './users.ts'
import { mustAsk, type Verb } from './verb.ts'

interface VerbFlags extends TargetFlags {
  readonly json?: boolean
  readonly yes?: boolean
  readonly all?: boolean
  readonly body?: string
}

interface Answer {
  readonly data?: readonly Readonly<Record<string, unknown>>[]
  readonly pagination?: { readonly cursor?: string }
}

/** Any method of the client: what it takes has been read off the same declaration. */
type AnyMethod = ((input: Input) => Promise<Answer | undefined>) & {
  pages(input: Input): AsyncIterable<Answer>
}

/** Does what a verb says. Everything that can be wrong with the words is found before anything is opened. */
export async function runVerb(verb: Verb, command: Command): Promise<void> {
  const flags = command.opts<VerbFlags>()
  const input = await readInput(command, verb)
  if (mustAsk(verb, input)) await requireConfirmation(questionOf(verb, command), flags.yes)
  const target = await openTarget(flags)
  try {
    await doVerb(target.client, verb, input, flags)
  } catch (error) {
    // If it does not close either, that is for the same reason: the first to say so says it best.
    await target.close().catch(() => undefined)
    throw explained(error, verb, flags)
  }
  await target.close()
}

async function doVerb(client: Client, verb: Verb, input: Input, flags: VerbFlags): Promise<void> {
  const named = flags.body === undefined ? await nameUsers(client, verb, input) : input
  const method = methodOf(client, verb.operation)
  if (verb.operation.page === undefined) await showAnswer(await method(named), flags)
  else if (flags.all) await showAll(method.pages(named), verb, flags)
  else await showPage(await method(named), verb, flags)
}

function methodOf(client: Client, operation: Operation): AnyMethod {
  const methods = client[familyOf(operation)] as unknown as Readonly<Record<string, AnyMethod>>
  const method = methods[operation.id.charAt(0).toLowerCase() + operation.id.slice(1)]
  if (method === undefined) throw new Error(`the client has no ${operation.id}`)
  return method
}

/** The sentence of the contract says what is lost. */
function questionOf({ words, operation }: Verb, { args }: Command): string {
  return `strand ${[words, ...args].join(' ')}: ${operation.summary} Continue?`
}

function explained(error: unknown, verb: Verb, { body }: VerbFlags): unknown {
  const { demoOnly, id } = verb.operation
  // What the client cannot pack was not sent. A name that it does not know can only come from a file.
  if (error instanceof TypeError && error.message.startsWith(`${id} `)) {
    return new UsageError(body === undefined ? error.message : `--body ${body}: ${error.message}`)
  }
  if (!(error instanceof StrandError)) return error
  if (error.status === 404 && demoOnly) {
    return new OperatorError(`${id} works in demo mode only: give the URL of a running demo with --url`)
  }
  const isAboutWords = error.status === 400 && error.operation === id && body === undefined
  return isAboutWords ? (wrongWord(error.message, verb) ?? error) : error
}

/** The server names a field of the contract; the message names the flag or the argument. */
function wrongWord(message: string, verb: Verb): UsageError | undefined {
  const [, path = '', why] =
    /^The parameter "([^"]+)" was malformed: (.+)$/s.exec(message) ??
    /^Missing required parameter "([^"]+)"$/.exec(message) ??
    []
  const [name] = path.split('.').filter(part => part !== verb.bulk && !/^[0-9]+$/.test(part))
  const field = verb.fields.find(each => each.name === name)
  if (field === undefined || field.place === 'secret') return undefined
  return why === undefined
    ? new UsageError(`missing ${field.shown}`)
    : invalid(field.shown, why.replace(/^(?:the )?value (?=must)/, ''))
}

async function showAnswer(answer: Answer | undefined, { json }: VerbFlags): Promise<void> {
  if (json) await print(answer === undefined ? '' : `${JSON.stringify(answer)}\n`)
  else if (answer?.data === undefined) await print('Done.\n')
  else await print(answer.data.map(showThing).join('\n'))
}

async function showPage(answer: Answer | undefined, verb: Verb, { json }: VerbFlags): Promise<void> {
  const { data = [], pagination } = answer ?? {}
  if (json) return print(`${JSON.stringify(answer)}\n`)
  await print(new Table(verb.columns).page(data))
  if (data.length === 0) process.stderr.write('No rows.\n')
  if (pagination?.cursor !== undefined) {
    process.stderr.write(`More rows: --after ${pagination.cursor}, or --all\n`)
  }
}

/** A list of any length, printed as it comes: the JSON is one document all the same. */
async function showAll(pages: AsyncIterable<Answer>, verb: Verb, { json }: VerbFlags): Promise<void> {
  const table = new Table(verb.columns)
  let count = 0
  if (json) await print('{"data":[')
  for await (const { data = [] } of pages) {
    const rows = data.map(row => JSON.stringify(row)).join(',')
    if (json) await print(count > 0 && rows !== '' ? `,${rows}` : rows)
    else await print(table.page(data))
    count += data.length
  }
  if (json) await print('],"pagination":{}}\n')
  else if (count === 0) process.stderr.write('No rows.\n')
}
