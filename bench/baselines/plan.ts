import { readFileSync } from 'node:fs'

/** What a baseline is to do, from the file that its process is started with. */
export function readPlan<Plan>(): Plan {
  const [file] = process.argv.slice(2)
  if (file === undefined) throw new Error('usage: bun bench/baselines/<baseline>.ts <plan.json>')
  return JSON.parse(readFileSync(file, 'utf8')) as Plan
}
