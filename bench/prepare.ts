import type { Served } from './children.ts'
import { type AskServer, type BenchRequest, headersOf, type Scenario } from './scenario.ts'
import type { BenchWorld } from './world.ts'

const SAMPLED_ANSWERS = 50

/** A scenario that is ready to run. */
export interface Prepared {
  readonly requests: readonly BenchRequest[]
  /** A typical answer. */
  readonly body: string
}

/** The requests of a scenario, a sample of them tried, and an answer of middling length for the bare server to give. */
export async function prepare(world: BenchWorld, strand: Served, scenario: Scenario): Promise<Prepared> {
  const ask: AskServer = async request => JSON.parse(await askText(strand, request))
  const requests = await scenario.prepare(world, ask)
  const answers: string[] = []
  const every = Math.ceil(requests.length / SAMPLED_ANSWERS)
  for (const request of requests.filter((_, index) => index % every === 0)) {
    const text = await askText(strand, request)
    if (!scenario.isRight(JSON.parse(text)))
      throw new Error(`${request.path} answered something else: ${text}`)
    answers.push(text)
  }
  const mean = answers.reduce((sum, text) => sum + text.length, 0) / answers.length
  const [body = ''] = answers.sort((a, b) => Math.abs(a.length - mean) - Math.abs(b.length - mean))
  return { requests, body }
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
