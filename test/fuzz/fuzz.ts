/** Runs a parser on mutated input, and reports what it must not do. */
import { Mutator } from './mutator.ts'

/** What became of a case: the input was taken, or refused in the way that the parser declares. */
export type Outcome = 'accepted' | 'refused'

export interface FuzzedParser {
  readonly name: string
  /** Valid input. */
  readonly seeds: readonly Uint8Array[]
  readonly tokens?: readonly string[]
  /** Throws if the parser does something that it must not. The bytes are overwritten by the next case. */
  parse(bytes: Buffer, random: Mutator): Outcome | Promise<Outcome>
}

interface Finding {
  readonly parser: string
  /** Repeats the case: `TEST_SEED=<seed> TEST_CASES=1`. */
  readonly seed: number
  readonly input: string
  readonly message: string
}

export interface FuzzResult {
  readonly parser: string
  readonly cases: number
  readonly accepted: number
  readonly refused: number
  readonly findings: readonly Finding[]
  readonly seconds: number
  readonly slowestMilliseconds: number
  readonly growthBytes: number
}

export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Of one case. */
  readonly maxMilliseconds?: number
  /** What may be in use after the run, more than after its first cases. */
  readonly maxGrowthBytes?: number
}

const MAX_MILLISECONDS = 2000
const MAX_GROWTH_BYTES = 64 * 1024 * 1024
/** Of one parser: more findings would repeat the first ones. */
const MAX_FINDINGS = 10
/** Cases that fill caches and compile code, before memory is measured. */
const WARM_CASES = 2000
/** Cases without a break for timers and garbage. */
const YIELD_EVERY = 20_000

/** What is in use after a collection. */
function usedBytes(): number {
  Bun.gc(true)
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export async function fuzz(parser: FuzzedParser, options: FuzzOptions): Promise<FuzzResult> {
  const { cases, seed, maxMilliseconds = MAX_MILLISECONDS, maxGrowthBytes = MAX_GROWTH_BYTES } = options
  const random = new Mutator(parser.seeds, parser.tokens)
  const findings: Finding[] = []
  const tally = { accepted: 0, refused: 0 }
  let slowest = 0
  let before = 0
  const began = performance.now()
  let ended = began
  const { stackTraceLimit } = Error
  // Most cases end with an error, of which a stack is the most expensive part.
  Error.stackTraceLimit = 0
  for (let index = 0; index < cases && findings.length < MAX_FINDINGS; index++) {
    if (index === Math.min(WARM_CASES, cases - 1)) before = usedBytes()
    if (index % YIELD_EVERY === 0) await Bun.sleep(0)
    random.start(seed + index)
    const bytes = random.bytes()
    const report = (message: string) => {
      random.start(seed + index)
      const input = random.bytes().toString('latin1')
      findings.push({ parser: parser.name, seed: seed + index, input: JSON.stringify(input), message })
    }
    const start = performance.now()
    try {
      const outcome = parser.parse(bytes, random)
      tally[typeof outcome === 'string' ? outcome : await outcome] += 1
    } catch (error) {
      report(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
    ended = performance.now()
    if (ended - start > slowest) slowest = ended - start
    if (ended - start > maxMilliseconds && (await isSlow(parser, random, seed + index, maxMilliseconds)))
      report(`took ${Math.round(ended - start)} ms`)
  }
  Error.stackTraceLimit = stackTraceLimit
  const growthBytes = usedBytes() - before
  if (growthBytes > maxGrowthBytes)
    findings.push({
      parser: parser.name,
      seed,
      input: '',
      message: `${Math.round(growthBytes / 1024 ** 2)} MiB more are in use after ${cases} cases`,
    })
  return {
    parser: parser.name,
    cases: tally.accepted + tally.refused + findings.length,
    ...tally,
    findings,
    seconds: (ended - began) / 1000,
    slowestMilliseconds: slowest,
    growthBytes,
  }
}

/** Whether a case takes long again: a busy machine may have paused it. */
async function isSlow(
  { parse }: FuzzedParser,
  random: Mutator,
  seed: number,
  most: number,
): Promise<boolean> {
  random.start(seed)
  const start = performance.now()
  try {
    await parse(random.bytes(), random)
  } catch {
    // Reported the first time.
  }
  return performance.now() - start > most
}

/** A row of the table in rig/README.md. */
export const formatResult = ({
  parser,
  cases,
  accepted,
  refused,
  findings,
  seconds,
  slowestMilliseconds,
}: FuzzResult) =>
  `| ${[
    parser,
    cases.toLocaleString('en-US'),
    accepted.toLocaleString('en-US'),
    refused.toLocaleString('en-US'),
    findings.length,
    seconds.toFixed(0),
    slowestMilliseconds.toFixed(0),
  ].join(' | ')} |`
