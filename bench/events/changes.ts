/** Makes changes as fast as they are answered. `bun bench/events/changes.ts <plan.json>`; prints the rate as JSON. */
import { readFileSync } from 'node:fs'
import { type ConnectionsPlan, sendAround } from './connections.ts'

export interface ChangesResult {
  readonly answered: number
  readonly seconds: number
}

if (import.meta.main) {
  const [file = ''] = process.argv.slice(2)
  const plan = JSON.parse(readFileSync(file, 'utf8')) as ConnectionsPlan
  console.log(JSON.stringify((await sendAround(plan)) satisfies ChangesResult))
  process.exit(0)
}
