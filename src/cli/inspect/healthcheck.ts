import { Command } from 'commander'
import { OperatorError } from '../../kit/operator-error.ts'
import { configFlag, readStoreConfig } from '../store-flags.ts'
import { baseUrl, wholeNumber } from '../terminal/flag-values.ts'
import { print } from '../terminal/print.ts'
import { listenerUrl } from './listener-url.ts'

interface HealthcheckFlags {
  readonly config?: string
  readonly url?: string
  readonly wait: number
  readonly json?: boolean
}

const RETRY_MILLISECONDS = 100
const TIMEOUT_MILLISECONDS = 2000

/** For containers and service managers, which may have no HTTP client. */
export const healthcheckCommand = configFlag(new Command('healthcheck'))
  .description('check whether the server is healthy; exit code 0 if it is, 1 if not')
  .option('--url <url>', 'URL of the server; default: the listener of the settings', baseUrl('--url'))
  .option(
    '--wait <seconds>',
    'wait this long for the server to become ready',
    wholeNumber('--wait', 0, 9999),
    0,
  )
  .option('--json', 'print the result as one line of JSON')
  .addHelpText('after', '\nExamples:\n  strand healthcheck\n  strand healthcheck --wait 30')
  .action(async (flags: HealthcheckFlags) => {
    const base = flags.url ?? listenerUrl(readStoreConfig(flags).listen)
    // Waiting for a start includes the store; a liveness check must not, or an outage of the store would restart servers.
    const url = `${base}/${flags.wait > 0 ? 'readyz' : 'healthz'}`
    const deadline = performance.now() + flags.wait * 1000
    for (;;) {
      const failure = await check(url)
      if (failure !== undefined && performance.now() < deadline) {
        await Bun.sleep(RETRY_MILLISECONDS)
        continue
      }
      if (flags.json) await print(`${JSON.stringify({ url, ok: failure === undefined, failure })}\n`)
      if (failure === undefined) return
      throw new OperatorError(`${url} ${failure}`)
    }
  })

/** Returns why the server is not healthy; undefined if it is. */
async function check(url: string): Promise<string | undefined> {
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) })
    return ok ? undefined : `returned ${status}`
  } catch {
    return `did not respond within ${TIMEOUT_MILLISECONDS / 1000} seconds, or cannot be reached`
  }
}
