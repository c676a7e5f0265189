/** The options of `startStrand`, checked: JavaScript callers have no compiler. A message names the option and its rule. */
import type { DemoRequest } from './demo-request.ts'
import type { StrandOptions } from './options.ts'

interface Rule {
  readonly must: string
  isMet(value: unknown): boolean
}

const MODES = ['process', 'child']
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

const integer = (least: number, most: number): Rule => ({
  must: `an integer from ${least} to ${most}`,
  isMet: value => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
})
const choice = (values: readonly string[]): Rule => ({
  must: `one of ${values.join(', ')}`,
  isMet: value => values.includes(value as string),
})
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const RULES: Readonly<Record<keyof StrandOptions, Rule>> = {
  port: integer(0, 65_535),
  seed: integer(0, Number.MAX_SAFE_INTEGER),
  streams: integer(1, 10_000),
  clock: { must: 'a time such as 2026-03-01T12:00:00Z, or { start, running }', isMet: () => true },
  scenario: {
    must: 'an object or the path of a file',
    isMet: value => isObject(value) || (typeof value === 'string' && value !== ''),
  },
  mode: choice(MODES),
  strict: { must: 'true or false', isMet: value => typeof value === 'boolean' },
  intercept: { must: 'true or false', isMet: value => typeof value === 'boolean' },
  data: { must: 'the path of a folder', isMet: value => typeof value === 'string' && value !== '' },
  log: choice(LEVELS),
  settings: { must: 'an object', isMet: isObject },
  startTimeout: integer(1, 600_000),
}

export function checkOptions(options: StrandOptions): void {
  if (!isObject(options)) throw invalid('options', 'an object', options)
  requireKnown('startStrand', options, Object.keys(RULES))
  for (const [name, rule] of Object.entries(RULES)) {
    const value = options[name as keyof StrandOptions]
    if (value !== undefined && !rule.isMet(value)) throw invalid(name, rule.must, value)
  }
  for (const [name, value] of Object.entries(options.settings ?? {}))
    if (typeof value !== 'string') throw invalid(`settings.${name}`, 'a string', value)
}

/** A mistyped name. */
export function requireKnown(caller: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find(name => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(`${caller}: unknown option "${unknown}"; must be one of ${known.join(', ')}`)
}

export function readClock(clock: StrandOptions['clock']): DemoRequest['clock'] {
  if (clock === undefined) return undefined
  if (isObject(clock) && !(clock instanceof Date)) {
    const { start, running = false, ...unknown } = clock as Record<string, unknown>
    requireKnown('startStrand: clock', unknown, [])
    if (typeof running !== 'boolean') throw invalid('clock.running', 'true or false', running)
    return { at: readTime('clock.start', start), running }
  }
  return { at: readTime('clock', clock), running: false }
}

export function readTime(name: string, value: unknown): number {
  const isTime = typeof value === 'string' || Object.prototype.toString.call(value) === '[object Date]'
  const at = isTime ? new Date(value as string | Date).getTime() : Number.NaN
  if (!Number.isNaN(at)) return at
  throw invalid(name, 'a time such as 2026-03-01T12:00:00Z', value)
}

function invalid(name: string, must: string, value: unknown): TypeError {
  const shown = typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? String(value))
  return new TypeError(`startStrand: invalid ${name}: must be ${must}, not ${shown.slice(0, 200)}`)
}
