import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Config } from '../../config/config.ts'
import { storeFilePath } from '../../config/data-folder.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import { paintFor } from '../terminal/colour.ts'
import { print } from '../terminal/print.ts'

/** Whether this start creates the installation: it has no store yet, or with PostgreSQL no operator token. */
export function isFirstStart(config: Config): boolean {
  return config.databaseUrl === undefined
    ? !existsSync(storeFilePath(config))
    : config.operatorToken === undefined && !existsSync(tokenFilePath(config))
}

interface Addresses {
  readonly url: string
  readonly controlUrl: string
}

/** Reports where the operator token is and what to do next: to people as text, to programs as one line of the log. */
export async function firstStart(config: Config, addresses: Addresses, log: Log): Promise<void> {
  const token = config.operatorToken === undefined ? tokenFilePath(config) : 'STRAND_OPERATOR_TOKEN'
  const operatorUrl = addresses.controlUrl.replace(/\/control$/, '')
  if (config.logReadable) await print(firstStartMessage(addresses.url, operatorUrl, token))
  else log.info({ operator_token: token, next: `strand login ${operatorUrl}` }, 'created a new installation')
}

const tokenFilePath = ({ dataFolder }: Config) => join(dataFolder, 'operator-token')

function firstStartMessage(url: string, operatorUrl: string, token: string): string {
  const paint = paintFor(process.stdout)
  const isFile = token.includes('operator-token')
  const file = relative('.', token)
  const login = `strand login ${operatorUrl}${isFile ? ` < ${file.startsWith('..') ? token : file}` : ''}`
  const row = (label: string, value: string) => `  ${paint(label.padEnd(16), 'dim')}${value}\n`
  return `
${paint('This is a new installation.', 'bold')}

${row('Site', url)}${row('Console', `${operatorUrl}/console`)}${row('Operator token', isFile ? `in the file ${token}` : `the value of ${token}`)}
Next, in another terminal:

  ${login}
  strand user create plucky_jackal
  strand open

`
}
