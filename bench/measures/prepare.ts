import type { Served } from '../load/processes.ts'
import { type BenchRequest, headersOf } from '../load/request.ts'
import type { AskServer, Scenario } from '../scenarios/scenario.ts'
import type { BenchWorld } from '../world/world.ts'

const SAMPLED_ANSWERS = 50

/** A scenario that is ready to run. */
export interface Prepared {
  readonly requests: readonly BenchRequest[]
  /** A typical answer. */
  readonly body: Buffer
  /** Requests that were tried, and what came of them. */
  readonly samples: readonly { readonly request: BenchRequest; readonly answer: Buffer }[]
}

/** The requests of a scenario, a sample of them tried, and an answer of middling length for the bare server to give. */
export async function prepare(world: BenchWorld, strand: Served, scenario: Scenario): Promise<Prepared> {
  const ask: AskServer = async request => JSON.parse((await askBytes(strand, request)).toString())
  const requests = await scenario.prepare(world, ask)
  const samples: { request: BenchRequest; answer: Buffer }[] = []
  const every = Math.ceil(requests.length / SAMPLED_ANSWERS)
  for (const request of requests.filter((_, index) => index % every === 0)) {
    samples.push({ request, answer: await askRight(strand, scenario, request) })
  }
  const answers = samples.map(each => each.answer)
  const mean = answers.reduce((sum, bytes) => sum + bytes.length, 0) / answers.length
  const distance = ({ length }: Buffer) => Math.abs(length - mean)
  const [body = Buffer.alloc(0)] = answers.sort((a, b) => distance(a) - distance(b))
  return { requests, body, samples }
}

/** Another server must answer the same requests: right, and where nothing is written with the very same text. */
export async function requireSameAnswers(server: Served, scenario: Scenario, { samples }: Prepared) {
  for (const { request, answer } of samples) {
    const bytes = await askRight(server, scenario, request)
    if (request.method === undefined && !bytes.equals(answer))
      throw new Error(`${request.path} was answered otherwise: ${bytes.toString('utf8', 0, 500)}`)
  }
}

async function askRight(server: Served, scenario: Scenario, request: BenchRequest): Promise<Buffer> {
  const bytes = await askBytes(server, request)
  if (!scenario.isRight(JSON.parse(bytes.toString())))
    throw new Error(`${request.path} answered something else: ${bytes}`)
  return bytes
}

export async function askBytes({ url }: Served, request: BenchRequest): Promise<Buffer> {
  const { method = 'GET', path, body } = request
  const answer = await fetch(url + path, {
    method,
    headers: headersOf(request),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${bytes}`)
  return bytes
}
