import { type Command, Option } from 'commander'
import { decimalNumber, invalid, wholeNumber } from '../terminal/flag-values.ts'
import { type Field, listArguments, listFlags, type Verb } from './verb.ts'

/** Adds the arguments and flags of a verb to its command. */
export function addInput(command: Command, verb: Verb): void {
  const isFilter = verb.operation.method === 'GET'
  for (const field of listArguments(verb))
    command.argument(field.shown, field.meaning, text => readValue(field, text))
  for (const field of listFlags(verb))
    for (const option of createOptions(field, { isFilter, isOneOfMany: verb.bulk !== undefined }))
      command.addOption(option)
  if (verb.takesPairs) command.argument('[user=number...]', 'id or login of a user, and a number')
  if (verb.bulk !== undefined || verb.takesBody)
    command.option(
      '--body <file>',
      `file with the JSON body of the request${verb.bulk === undefined ? '' : ', for many at once'}; - for standard input`,
    )
  const secret = verb.fields.find(({ place, required }) => place === 'secret' && !required)
  if (secret !== undefined) {
    command.option(`${secret.shown}-stdin`, `read the ${secret.word} from standard input`)
  }
}

interface Use {
  readonly isFilter: boolean
  /** A file with many entries can take the place of the flags. */
  readonly isOneOfMany: boolean
}

function createOptions(field: Field, { isFilter, isOneOfMany }: Use): Option[] {
  const { word, shown, kind, choices, required, removable, sample } = field
  const meaning = `${field.meaning}${describeRange(field)}${describeNeed(required, isOneOfMany)}`
  if (kind === 'yes-no') return [new Option(shown, meaning), new Option(`--no-${word}`, 'turn it off')]
  const option = new Option(`${shown} <${sample}>`, meaning).argParser(
    (text: string, before: unknown): unknown => {
      // The server would ignore it and list everything.
      if (text === '' && isFilter) throw invalid(shown, 'must not be empty')
      const value = readValue(field, text)
      if (kind === 'pairs') return { ...(before as object | undefined), ...readPair(shown, text) }
      return kind === 'list' ? [...((before || []) as unknown[]), value] : value
    },
  )
  if (choices !== undefined) option.argChoices = [...choices]
  return removable ? [option, new Option(`--no-${word}`, 'remove it')] : [option]
}

function describeNeed(required: boolean, isOneOfMany: boolean): string {
  if (!required) return ''
  return isOneOfMany ? ' (required without --body)' : ' (required)'
}

function readValue({ shown, place, kind, choices, min, max }: Field, text: string): unknown {
  if (kind === 'integer') return wholeNumber(shown, min, max)(text)
  if (kind === 'number') return decimalNumber(shown, min, max)(text)
  if (choices?.includes(text) === false) throw invalid(shown, `must be one of ${choices.join(', ')}`)
  // An empty or dotted argument would change the path of the request.
  if (place === 'argument' && /^\.{0,2}$/.test(text)) throw invalid(shown, `must not be "${text}"`)
  return text
}

/** One entry of an object, such as `--where user_id=141981764`. */
function readPair(shown: string, text: string): Record<string, string> {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw invalid(shown, `must be NAME=VALUE, not "${text}"`)
  return Object.fromEntries([[name, value]])
}

function describeRange({ kind, min, max }: Field): string {
  return (kind === 'integer' || kind === 'number') && max !== undefined ? `, ${min} to ${max}` : ''
}
