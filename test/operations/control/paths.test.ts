/** Ids in paths, whatever is in them: text that cannot be an id is refused or not found, and never breaks anything. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operations } from '../../../src/contract/index.ts'
import { engines, startTestServer, type TestServer } from '../../support/server.ts'
import { asOperator } from './operator.ts'

const withIds = operations.filter(operation => operation.path.includes('{'))

const ODD: Record<string, { id: string; statuses: number[] }> = {
  'U+0000': { id: 'a%00b', statuses: [400] },
  'bytes that are not UTF-8': { id: '%FF', statuses: [400] },
  'an emoji': { id: '%F0%9F%A6%A6', statuses: [400, 404] },
  quotes: { id: '%27%22%7B%7D%5C', statuses: [400, 404] },
  'a slash': { id: 'a%2Fb', statuses: [400, 404] },
  'a thousand digits': { id: '9'.repeat(1000), statuses: [400, 404] },
}

for (const engine of engines) {
  describe(`ids in paths on ${engine}`, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startTestServer(engine)
    })
    afterAll(() => server.stop())

    for (const [title, { id, statuses }] of Object.entries(ODD)) {
      test(`${statuses.join(' or ')} when an id is or has ${title}`, async () => {
        const failed: string[] = []
        for (const { id: name, method, path, example } of withIds) {
          const ask = { method, path: path.replace(/\{\w+\}/g, id), body: example.body }
          // What is public refuses the token of an operator before it looks at the id.
          const { status } = await server.call(path.startsWith('/control/') ? asOperator(server, ask) : ask)
          if (!statuses.includes(status)) failed.push(`${name} answered ${status}`)
        }
        expect(failed).toEqual([])
      })
    }
  })
}
