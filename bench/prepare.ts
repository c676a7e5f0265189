import type { Served } from './children.ts'
import { type AskServer, type BenchRequest, headersOf, type Scenario } from './scenario.ts'
import type { BenchWorld } from './world.ts'

const SAMPLED_ANSWERS = 50

/** A scenario that is ready to run. */
export interface Prepared {
  readonly requests: readonly BenchRequest[]
  /** A typical answer. */
  readonly body: string
  readonly samples: readonly Sample[]
}

/** A request that was tried, and what came of it. */
interface Sample {
  readonly request: BenchRequest
  readonly answer: string
}

/** The requests of a scenario, a sample of them tried, and an answer of middling length for the bare server to give. */
export async function prepare(world: BenchWorld, strand: Served, scenario: Scenario): Promise<Prepared> {
  const ask: AskServer = async request => JSON.parse(await askText(strand, request))
  const requests = await scenario.prepare(world, ask)
  const samples: Sample[] = []
  const every = Math.ceil(requests.length / SAMPLED_ANSWERS)
  for (const request of requests.filter((_, index) => index % every === 0)) {
    samples.push({ request, answer: await askRight(strand, scenario, request) })
  }
  const answers = samples.map(each => each.answer)
  const mean = answers.reduce((sum, text) => sum + text.length, 0) / answers.length
  const [body = ''] = answers.sort((a, b) => Math.abs(a.length - mean) - Math.abs(b.length - mean))
  return { requests, body, samples }
}

/** Another server must answer the same requests: right, and where nothing is written with the very same text. */
export async function requireSameAnswers(
  server: Served,
  scenario: Scenario,
  { samples }: Prepared,
): Promise<void> {
  for (const { request, answer } of samples) {
    const text = await askRight(server, scenario, request)
    if (request.method === undefined && text !== answer)
      throw new Error(`${request.path} was answered otherwise: ${text.slice(0, 500)}`)
  }
}

async function askRight(server: Served, scenario: Scenario, request: BenchRequest): Promise<string> {
  const text = await askText(server, request)
  if (!scenario.isRight(JSON.parse(text))) throw new Error(`${request.path} answered something else: ${text}`)
  return text
}

async function askText({ url }: Served, request: BenchRequest): Promise<string> {
  const { method = 'GET', path, body } = request
  const answer = await fetch(url + path, {
    method,
    headers: headersOf(request),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return text
}
