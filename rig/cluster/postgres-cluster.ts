/**
 * A primary and two standbys. A write is acknowledged when one standby has it as well: `ANY 1` of the two others, which is
 * the settings of each of the three, for the day when it is the primary.
 *
 * An installation of Strand has a program that fails over: pg_auto_failover, Patroni, a managed service. Here the rig does it
 * itself, in the order that matters. First both standbys stop listening to the old primary, so that nothing it still sends
 * can be acknowledged; then the one with the most is promoted, and the other one follows it.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SQL } from 'bun'
import type { Lifetime } from '../../src/kit/lifetime.ts'
import { freePort } from '../../test/support/store/postgres.ts'
import { type Binaries, findBinaries } from '../../test/support/store/postgres-binaries.ts'
import { PostgresNode } from './postgres-node.ts'

const NAMES = ['n1', 'n2', 'n3'] as const
const STEP_MILLISECONDS = 30_000

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  shared_buffers: '64MB',
  wal_level: 'replica',
  wal_log_hints: 'on',
  wal_keep_size: '512MB',
  synchronous_commit: 'on',
  hot_standby: 'on',
  wal_receiver_timeout: '5s',
  wal_sender_timeout: '5s',
  wal_retrieve_retry_interval: '200ms',
  log_min_messages: 'warning',
}

export class PostgresCluster {
  readonly nodes: readonly PostgresNode[]
  #primary: PostgresNode

  private constructor(nodes: readonly PostgresNode[], primary: PostgresNode) {
    this.nodes = nodes
    this.#primary = primary
  }

  /** Makes the primary, copies its folder while it is stopped, and starts all three. */
  static async create(folder: string, lifetime: Lifetime): Promise<PostgresCluster> {
    const binaries = await findBinaries(folder)
    const nodes: PostgresNode[] = []
    for (const name of NAMES)
      nodes.push(new PostgresNode(name, await freePort(), join(folder, name), binaries))
    const [primary, ...standbys] = nodes as [PostgresNode, PostgresNode, PostgresNode]
    lifetime.onClose(() => Promise.all(nodes.map(each => each.kill())))
    initialize(primary.folder, binaries)
    await primary.start()
    await primary.ask('create database strand', 'postgres')
    await primary.stop('fast')
    const cluster = new PostgresCluster(nodes, primary)
    for (const each of standbys) copyFolder(primary.folder, each.folder)
    for (const each of standbys) each.prepare(cluster.#settingsOf(each), 'standby')
    primary.prepare(cluster.#settingsOf(primary), 'primary')
    await Promise.all(nodes.map(each => each.start()))
    await cluster.untilInStep()
    return cluster
  }

  get primary(): PostgresNode {
    return this.#primary
  }

  get standbys(): PostgresNode[] {
    return this.nodes.filter(each => each !== this.#primary)
  }

  /** Waits until both standbys follow. */
  async untilInStep(count = 2): Promise<void> {
    await until(`${count} standbys follow`, async () => {
      const [row] = await this.#primary.ask<{ following: number }>(
        `select count(*)::int as following from pg_stat_replication where state = 'streaming' and sync_state = 'quorum'`,
      )
      return (row?.following ?? 0) >= count
    })
  }

  /**
   * Makes a standby the primary. The old one is dead, or paused and so unable to answer; the caller has seen to that.
   * Gives how long it took, in milliseconds.
   */
  async failOver(): Promise<number> {
    const began = performance.now()
    await this.detachStandbys()
    const candidates = this.standbys
    const held = await Promise.all(candidates.map(writeAheadLogOf))
    const chosen = candidates[held[0] !== undefined && held[0] >= (held[1] ?? 0n) ? 0 : 1] as PostgresNode
    await promote(chosen)
    this.#primary = chosen
    for (const other of candidates) if (other !== chosen) await follow(other, connectionTo(chosen, other))
    return performance.now() - began
  }

  /** Makes a standby the primary while the old one and the other standby continue as they were. It waits for no standby. */
  async promoteBeside(standby: PostgresNode): Promise<void> {
    await follow(standby, '')
    await promote(standby)
    this.#primary = standby
    await this.acknowledgeAlone()
  }

  /** From now on the primary waits for no standby. Its successor does again. */
  async acknowledgeAlone(): Promise<void> {
    await this.#primary.ask(`alter system set synchronous_standby_names = ''`)
    await this.#primary.ask('select pg_reload_conf()')
    await until('the primary waits for no standby', async () => {
      const [row] = await this.#primary.ask<{ synchronous_standby_names: string }>(
        'show synchronous_standby_names',
      )
      return row?.synchronous_standby_names === ''
    })
  }

  /** From now on the standbys get nothing of what the primary writes. */
  async detachStandbys(): Promise<void> {
    await Promise.all(this.standbys.map(each => follow(each, '')))
  }

  /** Makes a server that fell behind a standby again, from a copy of the running primary. */
  async rebuild(node: PostgresNode): Promise<void> {
    await node.kill()
    rmSync(node.folder, { recursive: true, force: true })
    const backup: SQL = this.#primary.connect()
    try {
      await backup.unsafe(`select pg_backup_start('rig', true)`)
      await copyLiveFolder(this.#primary.folder, node.folder)
      const [end] = await backup.unsafe('select labelfile from pg_backup_stop(false)')
      node.prepare(this.#settingsOf(node), 'standby', end.labelfile)
    } finally {
      await backup.close()
    }
    await node.start()
  }

  #settingsOf(node: PostgresNode): Record<string, string> {
    const others = this.nodes.filter(each => each !== node).map(each => each.name)
    return {
      synchronous_standby_names: `ANY 1 (${others.join(', ')})`,
      primary_conninfo: node === this.#primary ? '' : connectionTo(this.#primary, node),
    }
  }
}

const connectionTo = (primary: PostgresNode, standby: PostgresNode) =>
  `host=127.0.0.1 port=${primary.port} user=postgres application_name=${standby.name} connect_timeout=3`

/** Asks again and again: a statement that waited inside the standby could be cancelled by what the standby replays. */
async function promote(standby: PostgresNode): Promise<void> {
  await standby.ask('select pg_promote(false)')
  await until(`${standby.name} is the primary`, async () => {
    const [row] = await standby.ask<{ promoted: boolean }>('select not pg_is_in_recovery() as promoted')
    return row?.promoted ?? false
  })
}

/** Sets the primary of a standby, and waits until it no longer listens to another one. */
async function follow(standby: PostgresNode, connection: string): Promise<void> {
  await standby.ask(`alter system set primary_conninfo = '${connection}'`)
  await standby.ask('select pg_reload_conf()')
  if (connection !== '') return
  await until(`${standby.name} listens to no primary`, async () => {
    const receivers = await standby.ask('select pid from pg_stat_wal_receiver')
    return receivers.length === 0
  })
}

/** How far a standby has come, as a number that can be compared. */
async function writeAheadLogOf(standby: PostgresNode): Promise<bigint> {
  const [row] = await standby.ask<{ bytes: string }>(
    `select pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::text as bytes`,
  )
  return BigInt(row?.bytes ?? '0')
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + STEP_MILLISECONDS
  while (!(await look().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await Bun.sleep(20)
  }
}

function initialize(folder: string, { initdb, identity }: Binaries): void {
  const words = [
    '-D',
    folder,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--data-checksums',
  ]
  const made = spawnSync(initdb, words, { ...identity, cwd: '/', encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`)
  const lines = Object.entries(SETTINGS).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(folder, 'postgresql.conf'), lines.join(''))
}

function copyFolder(from: string, to: string): void {
  const copied = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  if (copied.status !== 0) throw new Error(`cp failed: ${copied.stderr}`)
}

/** Files that are gone before they are copied were temporary. */
async function copyLiveFolder(from: string, to: string): Promise<void> {
  const copying = Bun.spawn(['cp', '-a', from, to], { stdout: 'ignore', stderr: 'pipe' })
  const violations = (await new Response(copying.stderr).text()).trim().split('\n').filter(Boolean)
  await copying.exited
  const serious = violations.filter(each => !each.endsWith('No such file or directory'))
  if (serious.length > 0) throw new Error(`cp failed: ${serious.join('; ')}`)
}
