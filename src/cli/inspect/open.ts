import { Command } from 'commander'
import { environment } from '../../config/config.ts'
import { readStoreConfig } from '../store-flags.ts'
import { printResult } from '../terminal/print.ts'
import { requestedServer, type TargetFlags, targetFlags } from '../verbs/target.ts'
import { listenerUrl } from './listener-url.ts'
import { findPublicUrl } from './public-url.ts'

interface OpenFlags extends TargetFlags {
  readonly console?: boolean
  readonly json?: boolean
}

export const openCommand = targetFlags(new Command('open'))
  .description('open the site in a browser, or print its URL where there is none')
  .option('--console', 'open the console of the operator listener instead')
  .option('--json', 'print the URL and whether a browser was started as one line of JSON')
  .addHelpText(
    'after',
    `
The browser is that of BROWSER, or the standard one of the system.

Examples:
  strand open
  strand open --console`,
  )
  .action(async (flags: OpenFlags) => {
    const url = await urlToOpen(flags)
    const opened = openInBrowser(url)
    await printResult(flags, { url, opened }, url)
  })

async function urlToOpen(flags: OpenFlags): Promise<string> {
  const server = requestedServer(flags)
  if (server !== undefined)
    return flags.console ? `${server.baseUrl}/console` : `${await findPublicUrl(server.baseUrl)}/`
  const { listen, operatorListen, publicUrl } = readStoreConfig(flags)
  return flags.console
    ? `${listenerUrl(operatorListen ?? listen)}/console`
    : `${publicUrl ?? listenerUrl(listen)}/`
}

/** Starts a browser without waiting for it. Returns false if there is none. */
function openInBrowser(url: string): boolean {
  const command = browserCommand(process.platform, environment)
  if (command === undefined) return false
  try {
    Bun.spawn([...command, url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref()
    return true
  } catch {
    return false
  }
}

/** The program that opens a URL; undefined where no screen is known. */
export function browserCommand(
  platform: string,
  { BROWSER = '', DISPLAY = '', WAYLAND_DISPLAY = '' }: typeof environment,
): string[] | undefined {
  if (BROWSER !== '') return [BROWSER]
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY === '' && WAYLAND_DISPLAY === '' ? undefined : ['xdg-open']
}
