import { parseEnv } from 'node:util'
import { nearestName } from '../kit/nearest.ts'
import { MAX_INPUT_FILE, readSmallFile } from '../kit/small-file.ts'
import {
  type Address,
  type Config,
  formatFlag,
  mapSettings,
  SETTINGS,
  settings,
  shownValue,
} from './settings.ts'

export type { Address, Config } from './settings.ts'

type Source = Readonly<Record<string, string | undefined>>

/** The environment, for what is no setting of Strand: colours, the folder of the user, the browser. */
export const environment: Source = process.env

/** Reports all invalid settings, not only the first. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings'
  readonly violations: readonly string[]
  /** Whether one of them is a flag. */
  readonly hasInvalidFlag: boolean

  constructor(violations: readonly string[], hasInvalidFlag = false) {
    super(violations.join('\n'))
    this.violations = violations
    this.hasInvalidFlag = hasInvalidFlag
  }
}

/** Settings from flags, the environment and a file of NAME=value lines, in this order of precedence. */
export function readConfig(flags: Source, file: string | undefined, given: Source = environment): Config {
  return resolve(readSources(flags, file, given)).config
}

/** Where the value of a setting comes from. */
export type Origin = 'flag' | 'environment' | 'file' | 'default'

export interface EffectiveSetting {
  readonly name: string
  /** Undefined if it is not set and has no default. */
  readonly value: string | undefined
  readonly from: Origin
}

/** Every setting in effect, without secrets. Throws like `readConfig`. */
export function effectiveSettings(flags: Source, file: string | undefined): EffectiveSetting[] {
  const sources = readSources(flags, file, environment)
  const { texts } = resolve(sources)
  return settings.map(setting => {
    const { name } = setting
    const value = texts.get(name) || undefined
    return { name, value: value && shownValue(setting, value), from: lookUp(name, sources).from }
  })
}

type Sources = readonly (readonly [Origin, Source])[]

function readSources(flags: Source, file: string | undefined, given: Source): Sources {
  return [
    ['flag', flags],
    ['environment', given],
    ['file', file === undefined ? {} : readSettingsFile(file)],
  ]
}

function readSettingsFile(file: string): Source {
  try {
    return parseEnv(readSmallFile(file, MAX_INPUT_FILE))
  } catch {
    throw new InvalidSettings([`cannot read --config ${file}: give a file of NAME=value lines`])
  }
}

/** The first source that has the setting wins; an empty value there means the default. */
function lookUp(name: string, sources: Sources): { from: Origin; text?: string } {
  const [from, source] = sources.find(([, each]) => each[name] !== undefined) ?? []
  const text = source?.[name]?.trim()
  return from === undefined || !text ? { from: 'default' } : { from, text }
}

/** The parsed values, and their texts. */
function resolve(sources: Sources): { config: Config; texts: ReadonlyMap<string, string> } {
  const violations: string[] = []
  const texts = new Map<string, string>()
  let hasInvalidFlag = false
  const reject = (name: string, message: (shownName: string) => string) => {
    const isFlag = lookUp(name, sources).from === 'flag'
    hasInvalidFlag ||= isFlag
    violations.push(message(isFlag ? formatFlag(name) : name))
  }
  for (const name of unknownNames(sources)) {
    const suggestion = nearestName(
      name,
      settings.map(setting => setting.name),
    )
    reject(
      name,
      () => `unknown setting ${name}${suggestion === undefined ? '' : `: did you mean ${suggestion}?`}`,
    )
  }
  const config = mapSettings(({ name, kind, default: standard, secret }) => {
    const { text } = lookUp(name, sources)
    const fallback = typeof standard === 'function' ? standard(above => texts.get(above) ?? '') : standard
    texts.set(name, text ?? fallback ?? '')
    const value = text === undefined ? undefined : kind.parse(text)
    if (text !== undefined && value === undefined) {
      const given = secret || kind.mayHoldPassword ? '' : `, not "${text}"`
      reject(name, shownName => `invalid ${shownName}: must be ${kind.form}${given}`)
    }
    return value ?? (fallback === undefined ? undefined : kind.parse(fallback))
  })
  const exposed = exposure(config)
  if (exposed !== undefined) {
    const advice = `set ${SETTINGS.operatorListen.name}, for example to localhost:8081`
    reject(exposed.name, shownName => `invalid ${shownName}: ${exposed.why}: ${advice}`)
  }
  for (const name of missingForStorage(config))
    reject(name, shownName => `missing ${shownName}: object storage needs it`)
  if (violations.length > 0) throw new InvalidSettings(violations, hasInvalidFlag)
  return { config, texts }
}

function unknownNames(sources: Sources): Set<string> {
  const known = new Set(settings.map(setting => setting.name))
  const given = sources.flatMap(([, source]) => Object.keys(source))
  return new Set(given.filter(name => name.startsWith('STRAND_') && !known.has(name)))
}

/** The settings that object storage needs, if it has some of them but not all. */
function missingForStorage({ objectStorage }: Config): string[] {
  const needed = ['endpoint', 'bucket', 'accessKeyId', 'secretAccessKey'] as const
  const missing = needed.filter(each => objectStorage[each] === undefined)
  return missing.length === needed.length ? [] : missing.map(each => SETTINGS.objectStorage[each].name)
}

/** The setting that would expose the operator API, and why. */
function exposure({ listen, operatorListen, publicUrl, mediaUrl, trustedProxies }: Config) {
  if (operatorListen !== undefined) return undefined
  if (!isLoopback(listen.host)) {
    return {
      name: SETTINGS.listen.name,
      why: `${listen.host} is reachable from outside, and so would be the operator API`,
    }
  }
  // A proxy in front makes a loopback listener as public as any other.
  const why = `a proxy forwards requests to ${listen.host}, and would expose the operator API`
  if (publicUrl !== undefined && !isLoopback(parseHost(publicUrl)))
    return { name: SETTINGS.publicUrl.name, why }
  if (mediaUrl !== undefined && !isLoopback(parseHost(mediaUrl))) return { name: SETTINGS.mediaUrl.name, why }
  return trustedProxies.isEmpty ? undefined : { name: SETTINGS.trustedProxies.name, why }
}

/** The URL for a browser on this machine. */
export function formatUrl({ host, port }: Address): string {
  const shown = host === '127.0.0.1' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.[0-9.]+$/.test(host)
}

const parseHost = (url: string) => new URL(url).hostname.replace(/^\[|\]$/g, '')
