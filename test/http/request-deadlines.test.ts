import { expect, test } from 'bun:test'
import { RequestDeadlines } from '../../src/http/limits/request-deadlines.ts'
import type { RequestContext } from '../../src/http/request-context.ts'

const context = { isHeldOpen: false, waitsSince: performance.now() } as RequestContext
const limit = (answer: Promise<Response>, conclude: (answer: unknown) => Response) =>
  new RequestDeadlines().limit(context, answer, conclude, thrown => new Response(String(thrown)))
const broken = () => {
  throw new Error('the log is broken')
}

test('an answer is concluded once', async () => {
  let concluded = 0
  const known = await limit(Promise.resolve(new Response('known')), answer => {
    concluded += 1
    return answer as Response
  })
  expect(await known.text()).toBe('known')
  expect(concluded).toBe(1)
})

test('what is thrown becomes a response', async () => {
  expect(await (await limit(Promise.reject(new Error('lost')), broken)).text()).toBe('Error: lost')
})

test('a conclusion that throws is reported to the caller, who does not wait for ever', async () => {
  await expect(limit(Promise.resolve(new Response('known')), broken)).rejects.toThrow('the log is broken')
})
