/** The least that a server on this runtime can do: one constant response to every request. Prints its port. */
import { readFileSync } from 'node:fs'
import { readPlan } from './plan.ts'

export interface BarePlan {
  readonly bodyFile: string
}

const body = readFileSync(readPlan<BarePlan>().bodyFile)
const headers = { 'Content-Type': 'application/json' }
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: () => new Response(body, { headers }),
})
console.log(server.port)
