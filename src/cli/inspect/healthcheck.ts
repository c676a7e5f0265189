import { Command } from 'commander'
import type { Address } from '../../config.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { configFlag, configOf } from '../store-flags.ts'
import { baseUrl, wholeNumber } from '../terminal/flag-values.ts'
import { print } from '../terminal/print.ts'

interface HealthcheckFlags {
  readonly config?: string
  readonly url?: string
  readonly wait: number
  readonly json?: boolean
}

const PAUSE_MILLISECONDS = 100
const MAX_WAIT_MILLISECONDS = 2000

/** For containers and service managers, whose surroundings have no other program that could ask. */
export const healthcheckCommand = configFlag(new Command('healthcheck'))
  .description('check whether the server is healthy; exit code 0 if it is, 1 if not')
  .option('--url <url>', 'URL of the server; default: the listener of the settings', baseUrl)
  .option('--wait <seconds>', 'how long to wait until it is ready', wholeNumber('--wait', 0, 9999), 0)
  .option('--json', 'print the result as one line of JSON')
  .addHelpText('after', '\nExamples:\n  strand healthcheck\n  strand healthcheck --wait 30')
  .action(async (flags: HealthcheckFlags) => {
    const base = flags.url ?? urlOf(configOf(flags).listen)
    // A server that is waited for is to have its store; one that is watched is not to be ended for the store's sake.
    const url = `${base}/${flags.wait > 0 ? 'readyz' : 'healthz'}`
    const deadline = performance.now() + flags.wait * 1000
    for (;;) {
      const failure = await ask(url)
      if (failure !== undefined && performance.now() < deadline) {
        await Bun.sleep(PAUSE_MILLISECONDS)
        continue
      }
      if (flags.json) await print(`${JSON.stringify({ url, ok: failure === undefined, failure })}\n`)
      if (failure === undefined) return
      throw new OperatorError(`${url} ${failure}`)
    }
  })

/** Why it is not well; undefined if it is. */
async function ask(url: string): Promise<string | undefined> {
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(MAX_WAIT_MILLISECONDS) })
    return ok ? undefined : `answered ${status}`
  } catch {
    return `did not answer within ${MAX_WAIT_MILLISECONDS / 1000} seconds, or cannot be reached`
  }
}

/** Where this machine reaches the listener: one on every address is asked on loopback. */
function urlOf({ host, port }: Address): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
