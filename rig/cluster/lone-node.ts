import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/store/postgres.ts'
import type { Site } from '../faults/fault.ts'
import { Caller } from '../load/caller.ts'
import { StrandNode } from './strand-node.ts'

type Settings = Readonly<Record<string, string>>

/** A node without a cluster, for a trial. It is not started yet. */
export interface LoneNode {
  readonly node: StrandNode
  readonly caller: Caller
  readonly operatorToken: string
  /** Of its data, below the folder of the trial. */
  readonly data: string
}

export async function createLoneNode(
  { folder: given, lifetime }: Site,
  name: string,
  settings: Settings | ((data: string) => Promise<Settings>) = {},
): Promise<LoneNode> {
  const folder = join(realpathSync(given), name)
  mkdirSync(folder)
  chmodSync(given, 0o711)
  const operatorToken = randomBytes(20).toString('hex')
  const data = join(folder, name)
  const node = new StrandNode(name, await freePort(), folder, {
    STRAND_OPERATOR_TOKEN: operatorToken,
    STRAND_MASTER_KEYS: `rig:${randomBytes(32).toString('base64')}`,
    STRAND_RATE_APP: '0',
    STRAND_RATE_USER: '0',
    STRAND_RATE_ANONYMOUS: '0',
    STRAND_DRAIN_SECONDS: '0',
    STRAND_LOG: 'info',
    ...(typeof settings === 'function' ? await settings(data) : settings),
  })
  lifetime.onClose(() => node.kill())
  return { node, caller: new Caller(node.url), operatorToken, data }
}
