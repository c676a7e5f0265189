/**
 * Two nodes under load are upgraded to the next release one by one, and then rolled back, without a failed request. The next
 * release is this program with one more migration.
 */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrations } from '../../src/store/schema/index.ts'
import { type Node, startTwoNodes } from '../support/cli/nodes.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import type { Cable } from '../support/proxies/cable.ts'
import { engines, type StorePlace } from '../support/server.ts'

const NEXT_RELEASE = [
  process.execPath,
  '--preload',
  join(ROOT, 'test', 'support', 'store', 'next-release.ts'),
  join(ROOT, 'src', 'main.ts'),
]

let place: StorePlace | undefined
let cables: readonly Cable[] = []
afterAll(async () => {
  await endAllProcesses()
  await Promise.all(cables.map(cable => cable.close()))
  await place?.remove()
})

/** What a proxy does: it knows who is ready, and asks those in turn. */
class Balancer {
  readonly #nodes: readonly Node[]
  #ready: Node[] = []
  #turn = 0
  readonly #timer: Timer

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes
    this.#ready = [...nodes]
    this.#timer = setInterval(() => void this.#look(), 100)
  }

  next(): Node {
    this.#turn += 1
    const node = this.#ready[this.#turn % this.#ready.length]
    if (node === undefined) throw new Error('no node is ready')
    return node
  }

  async replace(node: Node, command?: readonly string[]): Promise<void> {
    expect(await node.stop()).toBe(0)
    await node.start(command)
    while (!this.#ready.includes(node)) await Bun.sleep(10)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const ready = await Promise.all(this.#nodes.map(node => node.isReady()))
    this.#ready = this.#nodes.filter((_, index) => ready[index])
  }
}

/** Entitlements and a client that may fulfil them. */
async function settle(node: Node): Promise<{ ids: string[]; token: string }> {
  const { id: organization_id } = await node.control('POST', '/organizations', { name: 'Harbor Games' })
  const { id: game_id } = await node.control('POST', '/games', { name: 'Tidefall', organization_id })
  const benefit = await node.control('POST', '/benefits', { name: 'Coral lantern', organization_id, game_id })
  await node.control('PUT', '/users/1000', { login: 'channel' })
  const client = await node.control('POST', '/clients', { name: 'Harbor back end', organization_id })
  const ids = Array.from({ length: 50 }, () => crypto.randomUUID())
  const grants = ids.map(id => ({ id, user_id: '1000', benefit_id: benefit.id, game_id }))
  await node.control('POST', '/entitlements', { grants })
  const { access_token } = await node.control('POST', '/tokens', { client_id: client.id })
  return { ids, token: access_token }
}

test.skipIf(!engines.includes('postgres'))(
  'a rolling upgrade and its rollback, with no request failed',
  async () => {
    const started = await startTwoNodes({ STRAND_MIGRATE: 'off' })
    ;({ place, cables } = started)
    const [one, two] = started.nodes
    const { ids, token } = await settle(one)
    const balancer = new Balancer(started.nodes)
    const failures: string[] = []
    let [answered, isOver] = [0, false]
    const ask = async (path: string, init: RequestInit = {}) => {
      const headers = {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Connection: 'close',
      }
      const answer = await fetch(`http://127.0.0.1:${balancer.next().port}${path}`, {
        ...init,
        headers,
      }).then(
        async response => ({ status: response.status, text: await response.text() }),
        (error: Error) => ({ status: 0, text: error.message }),
      )
      answered += 1
      if (answer.status !== 200) failures.push(`${path}: ${answer.status} ${answer.text}`)
    }
    const update = (turn: number) =>
      ask('/helix/entitlements/drops', {
        method: 'PATCH',
        body: JSON.stringify({
          entitlement_ids: [ids[turn % ids.length]],
          fulfillment_status: turn % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
        }),
      })
    const loops = [update, () => ask('/helix/entitlements/drops'), () => ask('/helix/streams')].map(
      async each => {
        for (let turn = 0; !isOver; turn++) {
          await each(turn)
          await Bun.sleep(10)
        }
      },
    )

    const run = async (words: readonly string[], command?: readonly string[]) => {
      const environment = { ...one.environment }
      const strand = new StrandProcess(words, { environment, ...(command && { command }) })
      return { code: await strand.exit(), stdout: strand.stdout, stderr: strand.stderr }
    }
    // Nodes do not migrate by themselves, and the next release states what to do.
    const early = await run(
      ['serve', '--listen', '127.0.0.1:0', '--operator-listen', '127.0.0.1:0'],
      NEXT_RELEASE,
    )
    expect(early.code).toBe(1)
    expect(early.stderr).toContain(`this program needs ${migrations.length + 1}: run strand migrate`)
    const migrated = await run(['migrate'], NEXT_RELEASE)
    expect(migrated.stdout).toBe(`The store has schema ${migrations.length + 1}: 1 migration applied.\n`)

    for (const command of [NEXT_RELEASE, undefined]) {
      for (const node of [one, two]) await balancer.replace(node, command)
    }
    // The old program is back, on the schema of the next release.
    const again = await run(['migrate'])
    expect(again.stdout).toBe(`The store has schema ${migrations.length + 1}: no migrations to apply.\n`)
    isOver = true
    await Promise.all(loops)
    balancer.close()
    expect(failures.slice(0, 3)).toEqual([])
    expect(answered).toBeGreaterThan(300)
  },
  180_000,
)
