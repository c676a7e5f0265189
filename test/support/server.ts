import { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type Config, readConfig } from '../../src/config/config.ts'
import type { Method } from '../../src/contract/operation.ts'
import { openapiDocument } from '../../src/contract/reference/openapi.ts'
import { prepareWorld } from '../../src/demo/demo.ts'
import type { World } from '../../src/demo/described-world.ts'
import type { WorldPlan } from '../../src/demo/world.ts'
import { randomAlphanumerics } from '../../src/kit/id.ts'
import { lazy } from '../../src/kit/lazy.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { type StrandServer, startServer } from '../../src/server/serve.ts'
import { describeWorld } from '../../src/server/serve-demo.ts'
import { createWorkQueue } from '../../src/store/postgres/work-queue.ts'
import { RoundRobin } from './proxies/round-robin.ts'
import { useBundledThreads } from './server/bundled-threads.ts'
import { Canaries, contentsOf } from './server/canaries.ts'
import { Documented } from './server/documented.ts'
import { copyEmptyStore, copyWorld, WORLD, WORLD_DATABASE } from './server/prepared-world.ts'
import { memory } from './store/memory.ts'
import { administer, createDatabase, databaseAt, TEMPLATE_DATABASE } from './store/postgres.ts'

useBundledThreads()

export type EngineName = 'sqlite' | 'postgres'

const databaseUrl = process.env.TEST_DATABASE_URL || undefined
/** Where the world of most servers is to be copied from, if the run has prepared it. */
const worlds = process.env.TEST_PREPARED_WORLDS || undefined

/** The stores that tests run on: both, unless PostgreSQL could not be started (the runner reports it). */
export const engines: readonly EngineName[] = databaseUrl === undefined ? ['sqlite'] : ['sqlite', 'postgres']

/** How many nodes stand behind one address on PostgreSQL: `npm test -- --nodes 2`. */
const NODES = Number(process.env.TEST_NODES || 1)
/** The runtime asks so many at once; a proxy in the same process needs some of them. */
const gate = createWorkQueue(NODES > 1 ? 50 : 1000, 60_000)

/** A place for one store: a folder, and on PostgreSQL a separate database. */
export interface StorePlace {
  readonly folder: string
  readonly databaseUrl: string | undefined
  remove(): Promise<void>
}

export async function createStorePlace(
  engine: EngineName,
  { empty = false, world = false, postgresUrl = databaseUrl } = {},
): Promise<StorePlace> {
  const folder = mkdtempSync(join(memory ?? tmpdir(), 'strand-test-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  if (world && worlds !== undefined) copyWorld(worlds, engine, folder)
  else if (engine === 'sqlite' && !empty && worlds !== undefined) copyEmptyStore(worlds, folder)
  if (engine === 'sqlite') return { folder, databaseUrl: undefined, remove: async () => removeFolder() }
  if (postgresUrl === undefined) throw new Error('there is no PostgreSQL')
  const name = `strand_${randomAlphanumerics(12).toLowerCase()}`
  const template = world && worlds !== undefined ? WORLD_DATABASE : TEMPLATE_DATABASE
  await createDatabase(postgresUrl, name, empty ? undefined : template)
  return {
    folder,
    databaseUrl: databaseAt(postgresUrl, name),
    remove: async () => {
      removeFolder()
      await administer(postgresUrl, `drop database ${name} with (force)`)
    },
  }
}

/** The defaults of the program, but for what a test needs: any port, room for many tests at once, no rate limits. */
function testConfig(place: StorePlace, changes: Partial<Config> = {}): Config {
  const settings = {
    STRAND_LISTEN: '127.0.0.1:0',
    STRAND_DATA: place.folder,
    STRAND_SPOOL: place.folder,
    DATABASE_URL: place.databaseUrl,
    STRAND_DATABASE_CONNECTIONS: '6',
    // PostgreSQL may be slow to answer on a busy machine.
    STRAND_STORE_WAIT_SECONDS: '60',
    STRAND_RATE_APP: '0',
    STRAND_RATE_USER: '0',
    STRAND_RATE_ANONYMOUS: '0',
    STRAND_IMPORT_MIB: '1024',
    STRAND_LOG: 'debug',
    STRAND_LOG_FORMAT: 'json',
  }
  return { ...readConfig({}, undefined, settings), ...changes }
}

/** One request; what is left out is left out on the wire too. */
export interface Ask {
  readonly method?: Method | 'OPTIONS' | 'HEAD'
  readonly path?: string
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  /** A query string to send as it is, behind `query`. */
  readonly search?: string
  readonly body?: unknown
  readonly rawBody?: string | Uint8Array<ArrayBuffer> | ReadableStream
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent; tests look into it freely
  readonly body: any
  /** The name of the problem, as the server's log has it. */
  readonly problem: string | undefined
}

export interface TestServer {
  readonly engine: EngineName
  readonly url: string
  /** Of its PostgreSQL, if it has one. */
  readonly databaseUrl: string | undefined
  readonly world: World
  readonly strand: StrandServer
  /** Every line that the server logged, from `trace` up. */
  readonly logLines: readonly string[]
  /** What must not be found in store and log when the server stops. */
  readonly canaries: Canaries
  call(ask: Ask): Promise<Answer>
  /** A control call that must succeed; gives `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: see Answer.body
  control(method: Method, path: string, body?: unknown): Promise<any>
  /** Runs a statement on the store, past the server, and gives its rows. */
  // biome-ignore lint/suspicious/noExplicitAny: see Answer.body
  execute(statement: string): Promise<any[]>
  /** Lets every node know what was written past the address. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export interface TestServerOptions {
  readonly config?: Partial<Config>
  readonly streams?: number
  readonly seed?: number
  readonly demo?: boolean
}

/** A server in this process on a fresh store with a small demo world in it; viewers do not move by themselves. */
export async function startTestServer(
  engine: EngineName,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const wanted = { seed: options.seed ?? WORLD.seed, streams: options.streams ?? WORLD.streams }
  const place = await createStorePlace(engine, { world: isUsual(wanted, options.config) })
  const logLines: string[] = []
  let plan: WorldPlan | undefined
  const log = createLog({
    level: options.config?.logLevel ?? 'debug',
    readable: false,
    write: line => logLines.push(line),
  })
  const proxy = engine === 'postgres' && NODES > 1 ? new RoundRobin() : undefined
  const config = testConfig(place, { ...(proxy && { publicUrl: proxy.url }), ...options.config })
  const strand = await startServer({
    config,
    log,
    demo: options.demo ?? true,
    checkReplies: true,
    prepare: async services => {
      plan = await prepareWorld(services, wanted)
    },
  })
  const nodes = [strand]
  while (proxy !== undefined && nodes.length < NODES)
    nodes.push(await startServer({ config, log, demo: strand.services.demo ?? false, checkReplies: true }))
  for (const node of nodes) proxy?.add(node)
  if (plan === undefined) throw new Error('the world was not prepared')
  const url = proxy?.url ?? strand.url
  const world = describeWorld(
    { ...strand, url, controlUrl: proxy ? `${url}/control` : strand.controlUrl },
    plan,
  )
  let direct: DirectConnection | undefined
  const canaries = new Canaries()
  canaries.note(JSON.stringify(world))
  for (const { password } of world.users) canaries.add(password)
  const call = async (ask: Ask) => {
    const answer = await gate.run({}, () =>
      callServer(url, ask, logLines, config.strict ? 'strict' : 'lenient'),
    )
    canaries.note(answer.text)
    return answer
  }
  return {
    engine,
    url,
    databaseUrl: place.databaseUrl,
    world,
    strand,
    logLines,
    canaries,
    call,
    control: async (method, path, body) => {
      const answer = await call({ method, path: `/control${path}`, body, token: world.operator_token })
      if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
      return answer.body?.data
    },
    execute: statement => {
      direct ??= connectDirectly(place)
      return direct.execute(statement)
    },
    settle: async () => {
      for (const node of nodes) await node.catchUp()
    },
    stop: async () => {
      const leaks = canaries.leaksIn(`${await contentsOf(place)}\n${logLines.join('\n')}`)
      await direct?.close()
      await proxy?.close()
      for (const node of nodes) await node.stop()
      await place.remove()
      if (leaks.length > 0) throw new Error(`secrets were left in the store or the log: ${leaks.join(', ')}`)
    },
  }
}

/** Whether the prepared world will do: it is this one, and lies where this server looks, sealed with keys from there. */
function isUsual({ seed, streams }: typeof WORLD, config: Partial<Config> = {}): boolean {
  const isElsewhere = ['databaseUrl', 'dataFolder', 'masterKeys'].some(name => name in config)
  return seed === WORLD.seed && streams === WORLD.streams && !isElsewhere
}

/** A connection to a store, past any server. */
interface DirectConnection {
  /** Runs a statement, and gives its rows. */
  // biome-ignore lint/suspicious/noExplicitAny: see Answer.body
  execute(statement: string): Promise<any[]>
  close(): Promise<void>
}

type Store = Pick<StorePlace, 'folder' | 'databaseUrl'>

function connectDirectly({ folder, databaseUrl }: Store): DirectConnection {
  if (databaseUrl === undefined) {
    const connection = new Sqlite(join(folder, 'strand.db'))
    connection.run('pragma busy_timeout = 5000')
    return {
      execute: async statement => connection.query(statement).all(),
      close: async () => connection.close(),
    }
  }
  const client = new SQL(databaseUrl, { max: 1 })
  return {
    execute: async statement => [...(await client.unsafe(statement))],
    close: () => client.close(),
  }
}

/** Runs one statement on a store, past any server, and gives its rows. */
// biome-ignore lint/suspicious/noExplicitAny: see Answer.body
export async function executeIn(store: Store, statement: string): Promise<any[]> {
  const connection = connectDirectly(store)
  try {
    return await connection.execute(statement)
  } finally {
    await connection.close()
  }
}

const isJson = ({ headers }: Response) => headers.get('content-type') === 'application/json'
const isLines = ({ headers }: Response) => headers.get('content-type') === 'application/x-ndjson'
const linesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

/** The parsed body; undefined if it is empty or not JSON. */
function bodyOf(response: Response, text: string): unknown {
  if (text === '') return undefined
  if (isLines(response)) return linesIn(text)
  return isJson(response) ? JSON.parse(text) : undefined
}

const describe = (strict: boolean) =>
  new Documented(openapiDocument({ version: '0', serverUrl: 'http://localhost', strict }) as never)
const documents = { lenient: lazy(() => describe(false)), strict: lazy(() => describe(true)) }

/** Every answer that a test gets from an operation is as the OpenAPI document of the server's mode describes it. */
function requireDocumented(
  { method = 'GET', path = '' }: Ask,
  response: Response,
  text: string,
  mode: keyof typeof documents,
): void {
  const [pathname = ''] = path.split('?')
  const { status, headers } = response
  const violations = documents[mode]().violationsOf({ method, path: pathname, status, headers, text })
  if (violations.length > 0)
    throw new Error(`an answer is not as the OpenAPI document describes it: ${violations.join('; ')}`)
}

let requests = 0

async function callServer(
  baseUrl: string,
  ask: Ask,
  logLines: readonly string[],
  mode: keyof typeof documents,
): Promise<Answer> {
  const requestId = `test-${process.pid}-${++requests}`
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(ask.query ?? {})) {
    if (value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  const search = [query.toString(), ask.search].filter(Boolean).join('&')
  const body = ask.rawBody ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body))
  const response = await fetch(`${baseUrl}${ask.path}${search && `?${search}`}`, {
    method: ask.method ?? 'GET',
    headers: {
      'X-Request-Id': requestId,
      ...(ask.token !== undefined && { Authorization: `Bearer ${ask.token}` }),
      ...(ask.body !== undefined && { 'Content-Type': 'application/json' }),
      ...ask.headers,
    },
    redirect: 'manual',
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const isOfRequest = (line: string) => line.includes(`"${requestId}"`)
  const line = logLines.findLast(isOfRequest)
  // The answer does not have the cause, and the log ends with the test.
  if (response.status === 500) process.stderr.write(`${logLines.filter(isOfRequest).join('\n')}\n`)
  const problem = line && (JSON.parse(line) as { problem?: string }).problem
  // An operation that this server does not have is not described.
  if (problem !== 'route_unknown') requireDocumented(ask, response, text, mode)
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: bodyOf(response, text),
    problem,
  }
}
