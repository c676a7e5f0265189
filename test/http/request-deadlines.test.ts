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

test('of many, in any order, those that are late are refused once, and the others wait on', async () => {
  const deadlines = new RequestDeadlines()
  const begin = (waitsSince: number, isHeldOpen = false) => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const waiting = { isHeldOpen, waitsSince } as RequestContext
    const ended = deadlines.limit(
      waiting,
      promise,
      answer => answer as Response,
      thrown => new Response(String(thrown), { status: 503 }),
    )
    return { resolve: () => resolve(new Response('known')), ended }
  }
  const now = performance.now()
  const all = Array.from({ length: 60 }, (_, n) => ({
    n,
    ...begin(n % 3 === 0 ? now - 20_000 : now, n % 6 === 0),
  }))
  const isLate = ({ n }: { n: number }) => n % 3 === 0 && n % 6 !== 0
  // Some of those that are not late end first, from the middle, the end and the start of the list.
  const early = all.filter(each => !isLate(each) && each.n % 2 === 0)
  for (const each of [...early.slice(5), ...early.slice(0, 5).reverse()]) {
    each.resolve()
    await each.ended
  }
  const statuses = await Promise.all(all.filter(isLate).map(async ({ ended }) => (await ended).status))
  expect(statuses).toEqual(Array(10).fill(503))
  for (const each of all) each.resolve()
  const texts = await Promise.all(all.map(async ({ ended }) => (await ended).text()))
  expect(texts.filter(text => text === 'known')).toHaveLength(50)
  expect(texts.filter(text => text.includes('longer than 10 s'))).toHaveLength(10)
})
