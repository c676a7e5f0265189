import { Command } from 'commander'
import { OperatorError } from '../../kit/operator-error.ts'
import { paintFor } from '../terminal/colour.ts'
import { counted, print, printResult } from '../terminal/print.ts'
import { FittedTable } from '../terminal/table.ts'
import { widthOfTerminal } from '../terminal/width.ts'
import { profileNamed, readProfiles, writeProfiles } from './profile-file.ts'

interface Flags {
  readonly json?: boolean
}

export const logoutCommand = new Command('logout')
  .description('forget a profile and its token')
  .argument('[profile]', 'name of the profile; default: the current one')
  .option('--all', 'forget all profiles')
  .option('--json', 'print the forgotten profiles as one line of JSON')
  .addHelpText(
    'after',
    `
The token itself stays valid; strand operator delete revokes one that has a name.

Examples:
  strand logout demo
  strand logout --all`,
  )
  .action(async (given: string | undefined, flags: Flags & { readonly all?: boolean }) => {
    const { current, profiles } = readProfiles()
    const forgotten = flags.all ? profiles.map(({ name }) => name) : [profileName(given ?? current)]
    const left = profiles.filter(({ name }) => !forgotten.includes(name))
    const stays = left.some(({ name }) => name === current) ? current : undefined
    writeProfiles({ current: stays, profiles: left })
    const text = flags.all ? counted(forgotten.length, 'profile') : `the profile ${forgotten[0]}`
    await printResult(flags, { forgotten, current: stays ?? null }, `Forgot ${text}.`)
  })

/** The name of an existing profile. */
function profileName(given: string | undefined): string {
  if (given === undefined)
    throw new OperatorError('there is no current profile: name one; see strand profile list')
  return profileNamed(given).name
}

const listCommand = new Command('list')
  .description('list the profiles, without their tokens')
  .option('--json', 'print them as one line of JSON')
  .addHelpText('after', '\nExample:\n  strand profile list')
  .action(async (flags: Flags) => {
    const { current, profiles } = readProfiles()
    const rows = profiles.map(({ name, url }) => ({ name, url, current: name === current }))
    if (flags.json) return print(`${JSON.stringify({ profiles: rows })}\n`)
    if (rows.length === 0)
      return void process.stderr.write('No profiles: create one with strand login <url>.\n')
    const columns = [{ heading: 'CURRENT' }, { heading: 'NAME' }, { heading: 'URL' }]
    const table = new FittedTable(
      columns,
      widthOfTerminal(process.stdout) ?? Number.POSITIVE_INFINITY,
      paintFor(process.stdout),
    )
    await print(
      table.page(
        rows.map(({ name, url, current: isCurrent }) => [
          [[{ text: isCurrent ? '*' : '', style: 'green' }]],
          [[{ text: name }]],
          [[{ text: url }]],
        ]),
      ),
    )
  })

const useCommand = new Command('use')
  .description('make a profile the current one')
  .argument('<profile>', 'name of the profile')
  .option('--json', 'print the profile as one line of JSON, without the token')
  .addHelpText('after', '\nExample:\n  strand profile use demo')
  .action(async (given: string, flags: Flags) => {
    const all = readProfiles()
    const { name, url } = profileNamed(given, all)
    writeProfiles({ ...all, current: name })
    await printResult(flags, { name, url }, `Commands use ${url} from now on.`)
  })

export const profileCommand = new Command('profile')
  .description('servers that strand login stored')
  .addCommand(listCommand)
  .addCommand(useCommand)
