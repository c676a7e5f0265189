import { Command } from 'commander'
import { effectiveSettings, type Origin } from '../config.ts'
import { print } from './print.ts'
import { type ServerFlags, serverFlags, settingsIn } from './store-flags.ts'

const FROM: Readonly<Record<Origin, string>> = {
  flag: 'flag',
  environment: 'environment',
  file: '--config file',
  default: 'default',
}

export const configCommand = serverFlags(new Command('config'))
  .description('print the settings that are in effect and where each comes from; secrets are not shown')
  .option('--json', 'print them as one line of JSON', false)
  .addHelpText(
    'after',
    `
Flags win over the environment, the environment wins over the file. docs/reference/settings.md tells what each means.

Examples:
  strand config
  strand config --json
  STRAND_LOG=debug strand config`,
  )
  .action(runConfig)

async function runConfig(flags: ServerFlags & { readonly json: boolean }): Promise<void> {
  const settings = effectiveSettings(settingsIn(flags), flags.config)
  if (flags.json) {
    const listed = settings.map(({ name, value, from }) => ({ name, value: value ?? null, from }))
    return print(`${JSON.stringify({ settings: listed })}\n`)
  }
  const lines = settings.map(
    ({ name, value, from }) => `${name.padEnd(30)} ${FROM[from].padEnd(14)} ${value ?? '(not set)'}\n`,
  )
  await print(lines.join(''))
}
