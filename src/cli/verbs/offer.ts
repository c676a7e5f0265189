import { type Command, InvalidArgumentError, Option } from 'commander'
import { argumentsOf, type Field, flagsOf, isRecord, secretOf, wholeNumber } from './fields.ts'
import type { Verb } from './verb.ts'

/** Adds the arguments and flags of a verb to its command. */
export function offerInput(command: Command, verb: Verb): void {
  for (const field of argumentsOf(verb)) command.argument(`<${field.flag}>`, field.meaning)
  for (const field of flagsOf(verb)) for (const option of optionsOf(field)) command.addOption(option)
  if (isRecord(verb)) command.argument('[user=number...]', 'a user, by id or login, and a number')
  if (verb.bulk !== undefined) {
    command.option('--body <file>', 'many at once: the body of the request as JSON; - is standard input')
  }
  const secret = secretOf(verb)
  if (secret !== undefined && !secret.required) {
    command.option(`--${secret.flag}-stdin`, `read the ${secret.flag} from standard input`)
  }
}

function optionsOf(field: Field): Option[] {
  const { flag, kind, choices, required, meaning } = field
  const words = `${meaning}${rangeOf(field)}${required ? ' (required)' : ''}`
  if (kind === 'yes-no') {
    return [new Option(`--${flag}`, words), new Option(`--no-${flag}`, 'switch it off')]
  }
  const option = new Option(`--${flag} <${field.sample}>`, words)
  if (kind === 'integer') option.argParser(text => accepted(wholeNumber(text, field)))
  else if (choices !== undefined) option.choices(choices)
  if (kind === 'list') collect(option)
  return field.removable ? [option, new Option(`--no-${flag}`, 'none any more')] : [option]
}

/** A flag that is given several times makes a list. */
function collect(option: Option): void {
  const check = option.parseArg
  option.argParser((text, before: string[] | false = []) => {
    check?.(text, undefined)
    return [...(before || []), text]
  })
}

function accepted({ value, violation }: ReturnType<typeof wholeNumber>): number {
  if (violation !== undefined) throw new InvalidArgumentError(violation)
  return value
}

function rangeOf({ kind, low, high }: Field): string {
  return kind === 'integer' && low !== undefined && high !== undefined ? `, ${low} to ${high}` : ''
}
