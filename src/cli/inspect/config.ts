import { Command } from 'commander'
import { type EffectiveSetting, effectiveSettings, type Origin } from '../../config/config.ts'
import { type ServerFlags, serverFlags, settingsIn } from '../store-flags.ts'
import { paintFor } from '../terminal/colour.ts'
import { print } from '../terminal/print.ts'
import { FittedTable } from '../terminal/table.ts'
import { widthOfTerminal } from '../terminal/width.ts'

const FROM: Readonly<Record<Origin, string>> = {
  flag: 'flag',
  environment: 'environment',
  file: '--config file',
  default: 'default',
}

export const configCommand = serverFlags(new Command('config'))
  .description('print the effective settings and where each comes from, without secrets')
  .option('--json', 'print them as one line of JSON')
  .addHelpText(
    'after',
    `
Flags take precedence over the environment, and the environment over the file. See docs/reference/settings.md.

Examples:
  strand config
  strand config --json
  STRAND_LOG=debug strand config`,
  )
  .action(runConfig)

async function runConfig(flags: ServerFlags & { readonly json?: boolean }): Promise<void> {
  const settings = effectiveSettings(settingsIn(flags), flags.config)
  if (flags.json) {
    const listed = settings.map(({ name, value, from }) => ({ name, value: value ?? null, from }))
    return print(`${JSON.stringify({ settings: listed })}\n`)
  }
  const width = widthOfTerminal(process.stdout)
  if (width !== undefined) return print(settingsTable(settings, width))
  const lines = settings.map(
    ({ name, value, from }) => `${name.padEnd(30)} ${FROM[from].padEnd(14)} ${value ?? '(not set)'}\n`,
  )
  await print(lines.join(''))
}

/** What was set stands out from the defaults. */
function settingsTable(settings: readonly EffectiveSetting[], width: number): string {
  const columns = [{ heading: 'SETTING' }, { heading: 'FROM' }, { heading: 'VALUE' }]
  const table = new FittedTable(columns, width, paintFor(process.stdout))
  return table.page(
    settings.map(({ name, value, from }) => [
      [[{ text: name }]],
      [[{ text: FROM[from], style: from === 'default' ? 'dim' : 'cyan' }]],
      [[{ text: value ?? '-', style: value === undefined ? 'dim' : undefined }]],
    ]),
  )
}
