/** Everything that the rig stands on: three PostgreSQL servers, four Strand nodes, the wires between them, the balancer. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Lifetime } from '../src/kit/lifetime.ts'
import { freePort } from '../test/support/store/postgres.ts'
import { Balancer } from './cluster/balancer.ts'
import { DatabaseLink, type Passage } from './cluster/database-link.ts'
import { PostgresCluster } from './cluster/postgres-cluster.ts'
import { StrandNode } from './cluster/strand-node.ts'

/** Longer than the balancer takes to notice that a node is leaving. */
const DRAIN_SECONDS = 2
const NODES = 4
export const POOL = 8
/** Points per minute of a user's token. Apps and those without a token are not counted: the load is theirs. */
export const USER_RATE = 200

export type Hosts = 'all' | 'one'

export interface Stage {
  readonly postgres: PostgresCluster
  readonly nodes: readonly StrandNode[]
  readonly balancer: Balancer
  readonly operatorToken: string
  /** What the wires between a node and the database let through. */
  wire(node: StrandNode, passage: Passage): void
}

/** Opens everything; `lifetime` closes it. */
export async function openStage(
  folder: string,
  { hosts }: { hosts: Hosts },
  lifetime: Lifetime,
): Promise<Stage> {
  const databases = join(folder, 'postgres')
  mkdirSync(databases)
  // PostgreSQL may run as another user, who must get through.
  chmodSync(folder, 0o711)
  const postgres = await PostgresCluster.create(databases, lifetime)
  const operatorToken = randomBytes(20).toString('hex')
  const settings = {
    STRAND_OPERATOR_TOKEN: operatorToken,
    STRAND_MASTER_KEYS: `rig:${randomBytes(32).toString('base64')}`,
    STRAND_DATABASE_CONNECTIONS: String(POOL),
    STRAND_RATE_APP: '0',
    STRAND_RATE_ANONYMOUS: '0',
    STRAND_RATE_OAUTH_ADDRESS: '0',
    STRAND_RATE_OAUTH_CLIENT: '0',
    STRAND_RATE_OAUTH_VALIDATE: '0',
    STRAND_RATE_USER: String(USER_RATE),
    STRAND_DRAIN_SECONDS: String(DRAIN_SECONDS),
    STRAND_LOG: 'info',
  }
  const links = new Map<StrandNode, readonly DatabaseLink[]>()
  const nodes: StrandNode[] = []
  for (let index = 1; index <= NODES; index++) {
    const wires = await openLinks(postgres, hosts)
    lifetime.onClose(() => wires.map(each => each.close()))
    const addresses = wires.map(each => `127.0.0.1:${each.port}`).join(',')
    const node = new StrandNode(`strand${index}`, await freePort(), folder, {
      ...settings,
      DATABASE_URL: `postgres://postgres@${addresses}/strand`,
    })
    links.set(node, wires)
    nodes.push(node)
    lifetime.onClose(() => node.kill())
  }
  await Promise.all(nodes.map(node => node.start()))
  const balancer = new Balancer(nodes)
  lifetime.onClose(() => balancer.close())
  return {
    postgres,
    nodes,
    balancer,
    operatorToken,
    wire: (node, passage) => {
      for (const link of links.get(node) ?? []) link.set(passage)
    },
  }
}

/** A node has all three addresses, or one that always leads to the primary. */
function openLinks(postgres: PostgresCluster, hosts: Hosts): Promise<DatabaseLink[]> {
  const targets =
    hosts === 'all' ? postgres.nodes.map(each => () => each.port) : [() => postgres.primary.port]
  return Promise.all(targets.map(target => DatabaseLink.open(target)))
}
