/** A store on PostgreSQL that gets partitions while a node uses it, and what this release and the next do with them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { partitionStore, planPartitions } from '../../src/store/partition-store.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'

const COUNT = 8
const run = (changes: object = {}) => ({ count: COUNT, now: Date.now(), pooled: false, ...changes })

describe.skipIf(!engines.includes('postgres'))('partitions', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('postgres')
  })
  afterAll(() => server.stop())
  const url = () => server.databaseUrl ?? ''

  test('smoke', async () => {
    for (const { label, step } of await planPartitions(url(), run()))
      console.log(label, JSON.stringify(step, null, 1).replaceAll('\\n', '\n'))
    console.log(await partitionStore(url(), run({ report: (line: string) => console.log(line) })))
    console.log(await planPartitions(url(), run()))
    const client = new SQL(url(), { max: 1 })
    console.log(
      await client.unsafe(
        "select relname, relkind from pg_class where relname ~ '^(audit|event|organization_ent)' and relnamespace = 'public'::regnamespace order by 1",
      ),
    )
    await client.close()
  })
})
