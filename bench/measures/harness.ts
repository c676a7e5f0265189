/**
 * How long a test harness takes to start, from Node and from the built package, one at a time and ten at once. By hand, on
 * a quiet machine: `npm run prepare && node bin/run.js bench/measures/harness.ts`.
 */
import { join } from 'node:path'

const ALONE = 9
const TOGETHER = 10
const LIMITS = { alone: 500, together: 2500 }

const harness = join(import.meta.dir, '../../dist/testing/start-strand.js')
const script = `
const { startStrand } = await import(${JSON.stringify(harness)})
const alone = []
for (let start = 0; start < ${ALONE}; start++) {
  const began = performance.now()
  const strand = await startStrand()
  alone.push(performance.now() - began)
  await strand.stop()
}
const began = performance.now()
const strands = await Promise.all(Array.from({ length: ${TOGETHER} }, () => startStrand()))
const together = performance.now() - began
await Promise.all(strands.map(strand => strand.stop()))
console.log(JSON.stringify({ alone: alone.toSorted((a, b) => a - b)[${Math.floor(ALONE / 2)}], together }))`

const node = Bun.spawnSync(['node', '--input-type=module', '-e', script], { stderr: 'inherit' })
const { alone, together } = JSON.parse(node.stdout.toString()) as { alone: number; together: number }
const line = (name: string, milliseconds: number, limit: number) =>
  `${name}: ${Math.round(milliseconds)} ms, at most ${limit}${milliseconds > limit ? ' (missed)' : ''}\n`
process.stdout.write(line('a harness alone, median', alone, LIMITS.alone))
process.stdout.write(line(`${TOGETHER} harnesses at once`, together, LIMITS.together))
if (alone > LIMITS.alone || together > LIMITS.together) process.exitCode = 1
