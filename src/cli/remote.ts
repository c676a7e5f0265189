import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import { CalledWrongly } from './called-wrongly.ts'
import type { StoreFlags } from './store-flags.ts'

/** How a verb is told to work on a server that runs elsewhere. */
export interface RemoteFlags extends StoreFlags {
  readonly url?: string
  readonly tokenFile?: string
}

export function remoteFlags(command: Command): Command {
  return command
    .option('--url <url>', 'a running server, such as http://localhost:8080, instead of the store')
    .option('--token-file <file>', 'where the operator token is; else STRAND_OPERATOR_TOKEN')
}

/** Calls the operator's side of a server. An answer that is no success is told in its own words. */
export async function callControl(
  flags: RemoteFlags,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const url = controlUrl(flags.url ?? '', path)
  const headers = { Authorization: `Bearer ${operatorToken(flags)}` }
  const response = await fetch(url, { ...init, headers }).catch((error: Error) => {
    throw new CannotStart(`${url.origin} cannot be reached: ${error.message}`)
  })
  if (response.ok) return response
  const text = await response.text()
  throw new CannotStart(`${url.origin} answered ${response.status}: ${messageIn(text)}`)
}

function controlUrl(base: string, path: string): URL {
  const text = `${base.replace(/\/+$/, '').replace(/\/control$/, '')}/control${path}`
  if (!/^https?:/.test(text) || !URL.canParse(text)) {
    throw new CalledWrongly(`--url must be an address such as http://localhost:8080, not "${base}"`)
  }
  return new URL(text)
}

function operatorToken({ tokenFile, config }: RemoteFlags): string {
  if (tokenFile === undefined) {
    const { operatorToken } = readConfig({}, config)
    if (operatorToken !== undefined) return operatorToken
    throw new CalledWrongly('--url needs the operator token: say --token-file, or set STRAND_OPERATOR_TOKEN')
  }
  try {
    return readFileSync(tokenFile, 'utf8').trim()
  } catch (error) {
    throw new CannotStart(`--token-file ${tokenFile} cannot be read: ${(error as Error).message}`)
  }
}

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { message: string }).message
  } catch {
    return text.slice(0, 200)
  }
}
