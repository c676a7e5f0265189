import { Command, InvalidArgumentError } from 'commander'
import { type Address, readConfig } from '../config.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { print } from './print.ts'
import { UsageError } from './usage-error.ts'

interface HealthcheckFlags {
  readonly config?: string
  readonly url?: string
  readonly wait: number
  readonly json: boolean
}

const PAUSE_MILLISECONDS = 100
const MAX_WAIT_MILLISECONDS = 2000

/** For containers and service managers, whose surroundings have no other program that could ask. */
export const healthcheckCommand = new Command('healthcheck')
  .description('ask the server of these settings whether it is well; exit code 0 if so, 1 if not')
  .option('--config <file>', 'settings as NAME=value lines')
  .option('--url <url>', 'ask this server instead of the one that the settings name')
  .option('--wait <seconds>', 'go on asking for so long until it is ready to serve', seconds, 0)
  .option('--json', 'print the outcome as one line of JSON', false)
  .addHelpText('after', '\nExamples:\n  strand healthcheck\n  strand healthcheck --wait 30')
  .action(async (flags: HealthcheckFlags) => {
    const base = givenUrl(flags.url) ?? urlOf(readConfig({}, flags.config).listen)
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

function givenUrl(url: string | undefined): string | undefined {
  if (url === undefined || (/^https?:\/\//.test(url) && URL.canParse(url))) return url?.replace(/\/+$/, '')
  throw new UsageError(`--url must be an http or https URL, not "${url}"`)
}

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

function seconds(text: string): number {
  if (!/^[0-9]{1,4}$/.test(text)) throw new InvalidArgumentError('give a whole number of seconds.')
  return Number(text)
}
