/**
 * The service of examples/fulfilment grants every entitlement exactly once, while it and the server are killed at random times
 * and the server injects every fault that it knows. The seed decides when and in which order.
 *
 * A longer run: TEST_ENTITLEMENTS=200000 TEST_KILLS=40 TEST_SEED=7
 */
import { afterAll, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/index.ts'
import type { Entitlement } from '../../src/contract/resources/entitlement.ts'
import { CALL_OUTCOMES } from '../../src/contract/resources/fault.ts'
import type { World } from '../../src/demo/described-world.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const ENTITLEMENTS = Number(process.env.TEST_ENTITLEMENTS || 50_000)
/** As many of the server, and as many of the service. */
const KILLS = Number(process.env.TEST_KILLS || 8)
const SEED = Number(process.env.TEST_SEED || 1)
/** How often each fault is planned for each of the two operations. */
const ROUNDS = 2
/** Entitlements in one call of the service. */
const BATCH = 100
const TIMEOUT_MILLISECONDS = 300_000

type Fault = Parameters<Client['control']['planFault']>[0]

const folder = mkdtempSync(join(tmpdir(), 'strand-exactly-once-'))
const grantsFile = join(folder, 'grants.jsonl')
const random = new SeededRandom(SEED)
let service: Service | undefined
afterAll(async () => {
  await service?.kill()
  await endAllProcesses()
  rmSync(folder, { recursive: true, force: true })
})

/** A demo that keeps its world, and is restarted on the same port. */
class Server {
  readonly #port: number
  readonly #data = join(folder, 'data')
  #process: StrandProcess | undefined
  #world: World | undefined
  #planned: Fault[] = []
  readonly injected = new Set<Fault['outcome']>()

  constructor(port: number) {
    this.#port = port
  }

  get world(): World {
    if (this.#world === undefined) throw new Error('the server has not been started')
    return this.#world
  }

  get control() {
    const { base_url, operator_token } = this.world
    return createClient({ baseUrl: base_url, operatorToken: operator_token }).control
  }

  async start(faults: readonly Fault[]): Promise<void> {
    const words = ['demo', '--json', '--still', '--streams', '1', '--data', this.#data]
    const environment = { STRAND_RATE_APP: '0', STRAND_LOG: 'error' }
    this.#process = new StrandProcess([...words, '--port', String(this.#port)], { environment })
    this.#world = JSON.parse(await this.#process.until(({ stdout }) => /^.*\n/.exec(stdout)?.[0])) as World
    for (const fault of faults) await this.control.planFault(fault)
    this.#planned = [...faults]
  }

  /** Notes the faults that were injected, and returns those that still wait for a call. */
  async waiting(): Promise<Fault[]> {
    const { data } = await this.control.listFaults()
    const isWaiting = (fault: Fault) =>
      data.some(({ operation, outcome }) => operation === fault.operation && outcome === fault.outcome)
    for (const fault of this.#planned) if (!isWaiting(fault)) this.injected.add(fault.outcome)
    return this.#planned.filter(isWaiting)
  }

  async kill(): Promise<void> {
    await this.#process?.kill('SIGKILL')
  }
}

/** The code of the example as it is; its client is the one of the sources. */
class Service {
  readonly #environment: Record<string, string>
  #process: Bun.Subprocess | undefined

  constructor({ base_url, client }: World) {
    this.#environment = {
      API_URL: base_url,
      CLIENT_ID: client.id,
      CLIENT_SECRET: client.secret,
      GRANTS_FILE: grantsFile,
      POLL_MILLISECONDS: '20',
    }
    cpSync(join(ROOT, 'examples/fulfilment/src'), join(folder, 'src'), { recursive: true })
    const home = join(folder, 'node_modules/strand-client')
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'index.ts'), `export * from '${join(ROOT, 'src/client/index.ts')}'\n`)
  }

  start(): void {
    this.#process = Bun.spawn([process.execPath, 'src/main.js'], {
      cwd: folder,
      env: { ...process.env, ...this.#environment },
      stdout: 'ignore',
      stderr: 'ignore',
    })
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#process?.exited
  }
}

/** Every fault of both operations, in random order, dealt to the lives of the server. */
function dealFaults(lives: number): Fault[][] {
  const callsInLife = ENTITLEMENTS / BATCH / lives
  const all = Array.from({ length: ROUNDS }, () =>
    (['GetDropsEntitlements', 'UpdateDropsEntitlements'] as const).flatMap(operation =>
      CALL_OUTCOMES.filter(
        outcome => outcome !== 'update_failed' || operation === 'UpdateDropsEntitlements',
      ).map(outcome => ({
        operation,
        outcome,
        // Early enough that the life does not end before.
        skip: random.between(0, Math.floor(callsInLife / 2)),
        ...((outcome === 'slow' || outcome === 'answer_stalled') && { milliseconds: 200 }),
        ...((outcome === 'unavailable' || outcome === 'rate_limited') && { retry_after: 0 }),
      })),
    ),
  ).flat()
  const hands: Fault[][] = Array.from({ length: lives }, () => [])
  for (let index = 0; all.length > 0; index++)
    hands[index % lives]?.push(...all.splice(random.between(0, all.length - 1), 1))
  return hands
}

async function grantAll({ control, world }: Server): Promise<void> {
  const { benefit, game, users } = world
  for (let done = 0; done < ENTITLEMENTS; done += 1000) {
    const grants = Array.from({ length: Math.min(1000, ENTITLEMENTS - done) }, () => ({
      id: random.uuid(),
      user_id: random.pick(users).id,
      benefit_id: benefit.id,
      game_id: game.id,
    }))
    await control.grantEntitlements({ grants })
  }
}

async function list({ control }: Server, organization_id: string): Promise<Entitlement[]> {
  const rows: Entitlement[] = []
  for await (const row of control.listEntitlements.each({ organization_id, first: 100 })) rows.push(row)
  return rows
}

const lineOf = ({ id, user_id, benefit_id }: Entitlement) =>
  JSON.stringify({ entitlement_id: id, user_id, benefit_id })

async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await Bun.sleep(5)
}

/** Kills the server and the service, each when a random share of the entitlements is granted, and restarts them. */
async function killBoth(server: Server, running: Service, bytes: number, hands: Fault[][]): Promise<void> {
  const victims = Array.from({ length: 2 * KILLS }, (_, index) => ({
    isServer: index % 2 === 0,
    at: random.next() * bytes,
    delay: random.between(0, 50),
  }))
  for (const { isServer, at, delay } of victims.sort((one, other) => one.at - other.at)) {
    await until(() => existsSync(grantsFile) && statSync(grantsFile).size >= at)
    await Bun.sleep(delay)
    if (isServer) {
      const waiting = await server.waiting()
      await server.kill()
      await server.start([...waiting, ...(hands.pop() ?? [])])
    } else {
      await running.kill()
      running.start()
    }
  }
}

test(
  `${ENTITLEMENTS} entitlements are granted exactly once, through ${2 * KILLS} kills and every fault`,
  async () => {
    const server = new Server(await freePort())
    await server.start([])
    const { organization, other_organization } = server.world
    await grantAll(server)
    const before = await list(server, organization.id)
    const ofOthers = await list(server, other_organization.id)
    const claimed = before.filter(({ fulfillment_status }) => fulfillment_status === 'CLAIMED')
    const expected = claimed.map(lineOf)
    const hands = dealFaults(KILLS)

    service = new Service(server.world)
    service.start()
    await killBoth(
      server,
      service,
      expected.reduce((sum, line) => sum + line.length + 1, 0),
      hands,
    )
    await until(async () => {
      const { data } = await server.control.listEntitlements({
        organization_id: organization.id,
        fulfillment_status: 'CLAIMED',
        first: 1,
      })
      return data.length === 0
    })
    await server.waiting()
    await service.kill()

    const granted = readFileSync(grantsFile, 'utf8').trimEnd().split('\n')
    expect(granted.length).toBe(expected.length)
    expect(granted.sort()).toEqual(expected.sort())
    const after = await list(server, organization.id)
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    expect(after.filter(({ fulfillment_status }) => fulfillment_status !== 'FULFILLED')).toEqual([])
    expect(await list(server, other_organization.id)).toEqual(ofOthers)
    expect([...server.injected].sort()).toEqual([...CALL_OUTCOMES].sort())
  },
  TIMEOUT_MILLISECONDS,
)
