import type { Command } from 'commander'
import { type Client, StrandError } from '../../client/index.ts'
import { InvalidInput } from '../../client/invalid-input.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { callControl } from '../remote.ts'
import { requireConfirmation } from '../terminal/confirm.ts'
import { invalid } from '../terminal/flag-values.ts'
import { confirmReplacing, type Output, writeFile } from '../terminal/output-file.ts'
import { print } from '../terminal/print.ts'
import { requireTerminal, watchScreen } from '../terminal/watch.ts'
import { displayWidth, widthOfTerminal } from '../terminal/width.ts'
import { UsageError } from '../usage-error.ts'
import { type Input, readInput } from './input.ts'
import { methodFor, type OperationResponse } from './method.ts'
import { Names } from './names.ts'
import { type Presenter, presenterFor } from './show.ts'
import { openTarget, requestedServer, type Target, type TargetFlags } from './target.ts'
import { resolveLogins } from './users.ts'
import { mustAsk, type Verb } from './verb.ts'

interface VerbFlags extends TargetFlags {
  readonly json?: boolean
  readonly yes?: boolean
  readonly all?: boolean
  readonly body?: string
  readonly output?: string
  readonly utc?: boolean
  readonly watch?: boolean
}

/** For operations that the server gives no deadline. */
const LONG_SECONDS = 3600

/** Runs a verb. Arguments and flags are checked before a server or store is opened. */
export async function runVerb(verb: Verb, command: Command): Promise<void> {
  const flags = command.opts<VerbFlags>()
  const input = await readInput(command, verb)
  if (flags.watch) requireWatchable(flags)
  if (mustAsk(verb, input)) await requireConfirmation(confirmationQuestion(verb, command, flags), flags.yes)
  await confirmRevealing(verb, command, flags)
  if (flags.output !== undefined) await confirmReplacing(flags.output, flags.yes)
  const target = await openTarget(flags, verb.operation.takesLong ? LONG_SECONDS : undefined)
  try {
    await callOperation(target, verb, input, flags)
  } catch (error) {
    // If closing fails too, the cause is the same and the first error describes it better.
    await target.close().catch(() => undefined)
    throw explain(error, verb, flags)
  }
  await target.close()
}

async function callOperation(target: Target, verb: Verb, input: Input, flags: VerbFlags): Promise<void> {
  const { client } = target
  const resolved = flags.body === undefined ? await resolveLogins(client, verb, input) : input
  if (verb.operation.answerLines !== undefined) return saveLines(target, verb, resolved, flags)
  const method = methodFor(client, verb.operation)
  const presenter = presenterFor(verb, { client, utc: flags.utc === true })
  if (verb.operation.answerFile !== undefined) await saveFile(String(await method(resolved)), flags)
  else if (verb.operation.page === undefined)
    await showResponse(await method(resolved), presenter, verb, flags)
  else if (flags.watch) await watchPage(client, verb, () => method(resolved), flags)
  else if (flags.all) await showAll(method.pages(resolved), presenter, flags)
  else await showPage(await method(resolved), presenter, flags)
}

/** Repaints one page of a list until Ctrl-C. */
async function watchPage(
  client: Client,
  verb: Verb,
  read: () => Promise<OperationResponse | undefined>,
  { utc = false }: VerbFlags,
): Promise<void> {
  const names = new Names(client)
  await watchScreen({
    title: `strand ${verb.words}`,
    read: async () => {
      const { data = [] } = (await read()) ?? {}
      return data.length === 0 ? 'No rows.\n' : presenterFor(verb, { client, utc, names }).page(data)
    },
  })
}

/** The summary in the contract describes what is lost. */
function confirmationQuestion({ words, operation }: Verb, { args }: Command, flags: VerbFlags): string {
  const server = requestedServer(flags)
  const place = server === undefined ? '' : ` on ${server.baseUrl}`
  return `strand ${[words, ...args].join(' ')}: ${operation.summary} Continue${place}?`
}

function requireWatchable({ json, all }: VerbFlags): void {
  if (json || all) throw new UsageError(`--watch cannot be combined with ${json ? '--json' : '--all'}`)
  requireTerminal()
}

/** A pipe shows nothing to people who look at the screen, so only a terminal asks. */
async function confirmRevealing(
  { words, reveals }: Verb,
  { args }: Command,
  { yes }: VerbFlags,
): Promise<void> {
  if (reveals === undefined || process.stdout.isTTY !== true) return
  await requireConfirmation(`strand ${[words, ...args].join(' ')}: ${reveals}. Print it here?`, yes)
}

function explain(error: unknown, verb: Verb, { body }: VerbFlags): unknown {
  const { demoOnly, id } = verb.operation
  // Only a file can contain unknown names.
  if (error instanceof InvalidInput) {
    return new UsageError(body === undefined ? error.message : `--body ${body}: ${error.message}`)
  }
  if (!(error instanceof StrandError)) return error
  if (error.status === 404 && demoOnly) {
    return new OperatorError(`${id} works in demo mode only: give the URL of a running demo with --url`)
  }
  const isAboutInput = error.status === 400 && error.operation === id && body === undefined
  return isAboutInput ? (inputError(error, verb) ?? error) : error
}

/** The server names a field of the contract; the message names the flag or the argument. */
function inputError({ field: path = '', reason }: StrandError, verb: Verb): UsageError | undefined {
  const [name] = path.split('.').filter(part => part !== verb.bulk && !/^[0-9]+$/.test(part))
  const field = verb.fields.find(each => each.name === name)
  if (field === undefined || field.place === 'secret') return undefined
  return reason === undefined ? new UsageError(`missing ${field.shown}`) : invalid(field.shown, reason)
}

async function saveFile(text: string, { output }: VerbFlags): Promise<void> {
  if (output === undefined) return print(text)
  await writeFile(output, write => write(text))
  await print(`Saved ${output}.\n`)
}

/** Writes lines as they arrive. The client leaves such operations out, because their answers have any length. */
async function saveLines(
  { server, send }: Target,
  { operation }: Verb,
  input: Input,
  { output }: VerbFlags,
): Promise<void> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name])))
  const { body } = await callControl(server, path.replace('/control', ''), { method: operation.method }, send)
  const copyTo = async (write: Output) => {
    for await (const piece of body ?? new Blob().stream()) await write(piece)
  }
  if (output === undefined) return copyTo(piece => Bun.write(Bun.stdout, piece))
  await writeFile(output, copyTo)
  await print(`Saved ${output}.\n`)
}

async function showResponse(
  response: OperationResponse | undefined,
  presenter: Presenter,
  { words, isReport }: Verb,
  { json }: VerbFlags,
): Promise<void> {
  // A file that was asked for, such as CSV.
  if (typeof response === 'string') return print(response)
  if (json) return print(response === undefined ? '' : `${JSON.stringify(response)}\n`)
  if (response?.data === undefined) return print('Done.\n')
  await print(await presenter.objects(response.data, isReport === true || words.endsWith(' list')))
}

async function showPage(
  response: OperationResponse | undefined,
  presenter: Presenter,
  { json }: VerbFlags,
): Promise<void> {
  const { data = [], pagination } = response ?? {}
  if (json) return print(`${JSON.stringify(response)}\n`)
  await print(await presenter.page(data))
  if (data.length === 0) process.stderr.write('No rows.\n')
  if (pagination?.cursor !== undefined) process.stderr.write(`${nextPageHint(pagination.cursor)}\n`)
}

/** A cursor that would wrap is left to programs: a person rather asks for all rows. */
function nextPageHint(cursor: string): string {
  const hint = `More rows: --after ${cursor}, or --all`
  const width = widthOfTerminal(process.stderr)
  return width === undefined || displayWidth(hint) <= width
    ? hint
    : 'More rows: --first 100, or --all; the cursor for --after is in --json'
}

/** Prints a list of any length page by page. The JSON is still one document. */
async function showAll(
  pages: AsyncIterable<OperationResponse>,
  presenter: Presenter,
  { json }: VerbFlags,
): Promise<void> {
  let count = 0
  if (json) await print('{"data":[')
  for await (const { data = [] } of pages) {
    const rows = data.map(row => JSON.stringify(row)).join(',')
    if (json) await print(count > 0 && rows !== '' ? `,${rows}` : rows)
    else await print(await presenter.page(data))
    count += data.length
  }
  if (json) await print('],"pagination":{}}\n')
  else if (count === 0) process.stderr.write('No rows.\n')
}
