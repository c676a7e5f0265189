/**
 * What a team would write instead: Fastify with a schema for every request and answer, prepared statements of `node:sqlite`
 * on a copy of the store, a look-up of the token for each request and a commit for each write. It runs on Node, and has no
 * rate limits, metrics, audit log or authenticated cursors. Prints its port.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { createOperations, failure, type UsualPlan, type UsualRequest } from './operations.ts'
import { ROUTES } from './schemas.ts'

/** The part of Fastify that is used. */
interface Fastify {
  addHook(name: string, hook: (request: UsualRequest, _: object, done: (error?: Error) => void) => void): void
  decorateRequest(name: string, value: null): void
  route(options: object): void
  listen(options: object): Promise<string>
}

const plan: UsualPlan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const db = new DatabaseSync(plan.storeFile)
db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -16384')
const app: Fastify = createRequire(plan.modules)('fastify')({ logger: { level: 'warn' } })

const findCaller = db.prepare(
  `select t.user_id, t.expires_at, o.number as organization from tokens t join clients c on c.id = t.client_id
   left join entitlement_organizations o on o.organization_id = c.organization_id
   where t.hash = ? and t.kind <> 'refresh'`,
)
app.decorateRequest('caller', null)
app.addHook('onRequest', (request, _, done) => {
  const { authorization } = request.headers
  if (authorization === undefined) return done()
  const hash = createHash('sha256').update(authorization.slice('Bearer '.length)).digest('hex')
  const caller = findCaller.get(hash) as UsualRequest['caller'] & { expires_at: string }
  if (caller === undefined || Date.parse(caller.expires_at) < Date.now()) return done(failure(401))
  request.caller = caller
  done()
})

const operations = createOperations(db, plan)
for (const [name, route] of Object.entries(ROUTES) as [keyof typeof operations, object][]) {
  const operation = operations[name]
  const handler = (request: UsualRequest, reply: { send(body: object): void }) => {
    if (request.caller === null && name !== 'getStreams') throw failure(401)
    reply.send(operation(request))
  }
  app.route({ ...route, handler })
}
console.log(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
