import type { Command } from 'commander'

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
