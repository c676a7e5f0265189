import { existsSync, readdirSync } from 'node:fs'
import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { prepareDataFolder, storeFileOf } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { openStore } from '../open-store.ts'

/** How a verb that works on the store itself is told which one. */
export interface StoreFlags {
  readonly config?: string
  readonly data?: string
  readonly databaseUrl?: string
}

export function storeFlags(command: Command): Command {
  return command
    .option('--config <file>', 'settings as NAME=value lines')
    .option('--data <folder>', 'STRAND_DATA')
    .option('--database-url <url>', 'DATABASE_URL')
}

/** How a command is told where a server listens, besides. */
export interface ServerFlags extends StoreFlags {
  readonly listen?: string
  readonly operatorListen?: string
  readonly publicUrl?: string
}

export function serverFlags(command: Command): Command {
  return storeFlags(command)
    .option('--listen <host:port>', 'STRAND_LISTEN')
    .option('--operator-listen <host:port>', 'STRAND_OPERATOR_LISTEN')
    .option('--public-url <url>', 'STRAND_PUBLIC_URL')
}

/** The settings that these flags give. */
export function settingsIn(flags: ServerFlags) {
  return {
    STRAND_LISTEN: flags.listen,
    STRAND_OPERATOR_LISTEN: flags.operatorListen,
    STRAND_PUBLIC_URL: flags.publicUrl,
    STRAND_DATA: flags.data,
    DATABASE_URL: flags.databaseUrl,
  }
}

/** The settings of a store that is there: a folder that was mistyped is not made. */
export function settingsOfExistingStore(flags: StoreFlags): Config {
  const config = readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config)
  if (config.databaseUrl === undefined && !existsSync(storeFileOf(config))) {
    throw new OperatorError(
      `there is no store in ${config.dataFolder}: name its folder with --data, or create one with strand migrate`,
    )
  }
  return config
}

/** The same, or a store that is still to be made: in a folder that `--data` names and that is new or empty. */
export function settingsOfNamedStore(flags: StoreFlags): Config {
  const isNew = flags.data !== undefined && (!existsSync(flags.data) || readdirSync(flags.data).length === 0)
  if (!isNew) return settingsOfExistingStore(flags)
  const config = readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config)
  if (config.databaseUrl === undefined) prepareDataFolder(config)
  return config
}

/** Opens the store that the flags and settings name. There must be one. */
export function openExistingStore(flags: StoreFlags): ReturnType<typeof openStore> {
  return openStore(settingsOfExistingStore(flags))
}
