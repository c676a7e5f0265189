import type { ClientOptions } from './options.ts'
import type { CallOptions } from './signatures.ts'

/** JavaScript callers have no compiler that finds a mistyped name or value: each gets a sentence. */

type Rule = readonly [isValid: (value: unknown) => boolean, form: string]

const address: Rule = [isAddress, 'an http or https URL such as "http://localhost:8080"']
const text: Rule = [value => typeof value === 'string' && value !== '', 'a string that is not empty']
const token: Rule = [
  value => typeof value === 'function' || text[0](value),
  'a token, or a function that returns one',
]
const callback: Rule = [value => typeof value === 'function', 'a function']
const seconds: Rule = [
  value => typeof value === 'number' && value > 0 && value <= 2_000_000,
  'a number of seconds above 0',
]

const CLIENT_RULES: Readonly<Record<keyof ClientOptions, Rule>> = {
  baseUrl: address,
  token,
  clientId: text,
  operatorToken: token,
  operatorUrl: address,
  retries: [value => Number.isInteger(value) && (value as number) >= 0, 'an integer of at least 0'],
  longestWaitSeconds: [value => value === 0 || seconds[0](value), 'a number of seconds of at least 0'],
  timeoutSeconds: seconds,
  fetch: callback,
  onRequest: callback,
  onResponse: callback,
  onRetry: callback,
}

const CALL_RULES: Readonly<Record<keyof CallOptions, Rule>> = {
  signal: [value => typeof (value as AbortSignal)?.aborted === 'boolean', 'an AbortSignal'],
  token,
  idempotencyKey: text,
  repeatable: [value => typeof value === 'boolean', 'true or false'],
}

export function checkClientOptions(options: ClientOptions): void {
  check('createClient', options, CLIENT_RULES)
  if (options.baseUrl === undefined)
    throw new TypeError(`createClient: baseUrl is required; it must be ${address[1]}`)
}

export function checkCallOptions(operation: string, options: CallOptions): void {
  check(operation, options, CALL_RULES)
}

function check(where: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${where}: the options must be an object, not ${show(options)}`)
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined)
      throw new TypeError(
        `${where}: unknown option "${name}"; must be one of ${Object.keys(rules).join(', ')}`,
      )
    if (value !== undefined && !rule[0](value))
      throw new TypeError(`${where}: ${name} must be ${rule[1]}, not ${show(value, name)}`)
  }
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

/** The wrong value, unless it may be a secret or is long. */
function show(value: unknown, name = ''): string {
  if (typeof value === 'string' && !/token/i.test(name) && value.length <= 100) return JSON.stringify(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
