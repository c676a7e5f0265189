import type { Command } from 'commander'
import { type Client, StrandError } from '../../client/index.ts'
import { familyOf, type Operation } from '../../contract/operation.ts'
import { CannotStart } from '../../kit/cannot-start.ts'
import { confirm } from '../confirm.ts'
import { print } from '../print.ts'
import { type Input, nameUsers, readInput } from './input.ts'
import { showThing, Table } from './show.ts'
import { openTarget, type TargetFlags } from './target.ts'
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
  if (mustAsk(verb) && !(await confirm(questionOf(verb, command), flags.yes ?? false))) {
    throw new CannotStart('nothing was changed')
  }
  const target = await openTarget(flags)
  try {
    const named = flags.body === undefined ? await nameUsers(target.client, verb, input) : input
    const method = methodOf(target.client, verb.operation)
    if (verb.operation.page === undefined) await showAnswer(await method(named), flags)
    else if (flags.all) await showAll(method.pages(named), verb, flags)
    else await showPage(await method(named), verb, flags)
  } catch (error) {
    throw explained(error, verb.operation)
  } finally {
    await target.close()
  }
}

function methodOf(client: Client, operation: Operation): AnyMethod {
  const methods = client[familyOf(operation)] as unknown as Readonly<Record<string, AnyMethod>>
  const method = methods[operation.id.charAt(0).toLowerCase() + operation.id.slice(1)]
  if (method === undefined) throw new Error(`the client has no ${operation.id}`)
  return method
}

/** The sentence of the contract says what is lost. */
function questionOf({ words, operation }: Verb, { args }: Command): string {
  return `strand ${[words, ...args].join(' ')}: ${operation.summary} Go on?`
}

function explained(error: unknown, { demoOnly, id }: Operation): unknown {
  if (!(error instanceof StrandError && error.status === 404 && demoOnly)) return error
  return new CannotStart(`${id} is there in demo mode only: name a running demo with --url`)
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
  if (data.length === 0) process.stderr.write('Nothing there.\n')
  if (pagination?.cursor !== undefined) {
    process.stderr.write(`There is more: --after ${pagination.cursor}, or --all\n`)
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
  else if (count === 0) process.stderr.write('Nothing there.\n')
}
