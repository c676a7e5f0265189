import { existsSync, readdirSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { type Config, readConfig } from '../config/config.ts'
import { prepareDataFolder, storeFilePath } from '../config/data-folder.ts'
import { formatFlag, SETTINGS, type Setting } from '../config/settings.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { openStore } from '../server/open-store.ts'

/** The settings that have a flag, by the attribute of the flag. */
const STORE_FLAGS = { data: SETTINGS.dataFolder, databaseUrl: SETTINGS.databaseUrl }
const SERVER_FLAGS = {
  listen: SETTINGS.listen,
  operatorListen: SETTINGS.operatorListen,
  publicUrl: SETTINGS.publicUrl,
}
const ALL_FLAGS = {
  ...STORE_FLAGS,
  ...SERVER_FLAGS,
  workers: SETTINGS.workers,
  strict: SETTINGS.strict,
  log: SETTINGS.logLevel,
}

/** The flag of a switch has no value. */
type SettingFlags<Flags> = {
  readonly [Name in keyof Flags]?: Name extends 'strict' ? true : string
} & { readonly config?: string }

/** Flags that select a store. */
export type StoreFlags = SettingFlags<typeof STORE_FLAGS>
/** Flags that select a store and the listeners of its server. */
export type ServerFlags = SettingFlags<typeof STORE_FLAGS & typeof SERVER_FLAGS>

export function storeFlags(command: Command): Command {
  return settingFlags(configFlag(command), Object.values(STORE_FLAGS))
}

export function serverFlags(command: Command): Command {
  return settingFlags(storeFlags(command), Object.values(SERVER_FLAGS))
}

export function configFlag(command: Command): Command {
  return command.option('--config <file>', 'file with settings as NAME=value lines')
}

export function settingFlags(command: Command, rows: readonly Setting[]): Command {
  for (const { name, kind, meaning } of rows) {
    const value = kind.isSwitch ? '' : ` <${kind.sample}>`
    const text = kind.isSwitch ? meaning.replace(/^whether to /, '') : meaning
    const option = new Option(formatFlag(name) + value, `${text} (${name})`)
    // For help and completion; the value is checked with the other settings.
    if (kind.choices !== undefined && !kind.isSwitch) option.argChoices = [...kind.choices]
    command.addOption(option)
  }
  return command
}

/** The configuration, with the settings that these flags give. */
export function readStoreConfig(flags: SettingFlags<typeof ALL_FLAGS>): Config {
  return readConfig(settingsIn(flags), flags.config)
}

export function settingsIn(flags: SettingFlags<typeof ALL_FLAGS>): Record<string, string | undefined> {
  const given = Object.entries(ALL_FLAGS) as [keyof typeof ALL_FLAGS, Setting][]
  return Object.fromEntries(given.map(([flag, { name }]) => [name, flagText(flags[flag])]))
}

function flagText(value: string | true | undefined): string | undefined {
  return value === true ? '1' : value
}

/** The configuration of an existing store. Throws instead of creating a folder that may be mistyped. */
export function settingsOfExistingStore(flags: StoreFlags): Config {
  const config = readStoreConfig(flags)
  if (config.databaseUrl === undefined && !existsSync(storeFilePath(config))) {
    throw new OperatorError(
      `no store in ${config.dataFolder}: give its folder with --data, or create one with strand migrate`,
    )
  }
  return config
}

/** The same, but also accepts a `--data` folder that is missing or empty, for a new store. */
export function settingsOfNamedStore(flags: StoreFlags): Config {
  const isNew = flags.data !== undefined && (!existsSync(flags.data) || readdirSync(flags.data).length === 0)
  if (!isNew) return settingsOfExistingStore(flags)
  const config = readStoreConfig(flags)
  if (config.databaseUrl === undefined) prepareDataFolder(config)
  return config
}

type OpenStore = Awaited<ReturnType<typeof openStore>>

/** Opens the store for `work` and closes it afterwards. */
export async function withStore<T>(config: Config, work: (store: OpenStore) => Promise<T>): Promise<T> {
  const store = await openStore(config)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
