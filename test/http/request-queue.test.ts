/** What happens to requests when more arrive than a process can answer. */
import { describe, expect, test } from 'bun:test'
import { type Need, RequestQueue } from '../../src/http/limits/request-queue.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import { onEachStore } from '../support/server/each-store.ts'

const PLACES = 128

/** A queue, and requests that hold their places until they are ended. */
function createQueue() {
  const queue = new RequestQueue(createLog({ level: 'silent', readable: false }))
  const begun: string[] = []
  const ends: (() => void)[] = []
  const ask = (name: string, need: Need = 'place') => {
    const answer = queue.run<string>(
      need,
      performance.now(),
      () => {
        begun.push(name)
        if (need !== 'place') return 'answered'
        const { promise, resolve } = Promise.withResolvers<string>()
        ends.push(() => {
          queue.leave()
          resolve('answered')
        })
        return promise
      },
      () => 'refused',
    )
    return answer
  }
  const fill = () => {
    for (let n = 0; n < PLACES; n++) void ask(`filler ${n}`)
    begun.length = 0
  }
  return { queue, begun, ends, ask, fill }
}

describe('the request queue', () => {
  test('begins at once while there are places', async () => {
    const { queue, begun, ends, ask } = createQueue()
    const answers = Array.from({ length: PLACES }, (_, n) => ask(`${n}`))
    expect(begun).toHaveLength(PLACES)
    for (const end of ends) end()
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['answered']))
    queue.stop()
  })

  test('begins what waits in the order of its arrival, when a place is left', async () => {
    const { queue, begun, ends, ask, fill } = createQueue()
    fill()
    const answers = ['a', 'b', 'c'].map(name => ask(name))
    expect(begun).toEqual([])
    ends.shift()?.()
    expect(begun).toEqual(['a'])
    ends.shift()?.()
    ends.shift()?.()
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const end of ends) end()
    expect(await Promise.all(answers)).toEqual(['answered', 'answered', 'answered'])
    queue.stop()
  })

  test('refuses what has waited for most of a second, and then begins others again', async () => {
    const { queue, begun, ends, ask, fill } = createQueue()
    fill()
    const began = performance.now()
    expect(await ask('late')).toBe('refused')
    expect(performance.now() - began).toBeGreaterThan(500)
    expect(begun).toEqual([])
    for (const end of ends.splice(0)) end()
    const answer = ask('next')
    expect(begun).toEqual(['next'])
    ends[0]?.()
    expect(await answer).toBe('answered')
    queue.stop()
  })

  test('lets pass what needs no place, and what never waits', async () => {
    const { queue, begun, ask, fill } = createQueue()
    fill()
    void ask('store')
    expect(await ask('memory', 'thread')).toBe('answered')
    expect(await ask('health', 'free')).toBe('answered')
    expect(begun).toEqual(['memory', 'health'])
    queue.stop()
  })

  test('puts off what arrives when the thread has been busy too long, but not health checks', async () => {
    const { queue, begun, ask } = createQueue()
    await ask('first', 'thread')
    // A thread that sleeps keeps its timers waiting, as one does that answers requests.
    Bun.sleepSync(200)
    const later = ask('later', 'thread')
    await ask('health', 'free')
    expect(begun).toEqual(['first', 'health'])
    expect(await later).toBe('answered')
    queue.stop()
  })

  test('spreads what it has put off over several turns, so that health checks get theirs', async () => {
    const { queue } = createQueue()
    const order: string[] = []
    const work = (name: string, milliseconds: number, need: Need) =>
      queue.run(
        need,
        performance.now(),
        () => {
          Bun.sleepSync(milliseconds)
          return order.push(name)
        },
        () => 0,
      )
    await work('first', 150, 'thread')
    const slow = Array.from({ length: 5 }, (_, n) => work(`slow ${n}`, 60, 'thread'))
    const health = new Promise(resolve => setTimeout(resolve, 30)).then(() => work('health', 0, 'free'))
    await Promise.all([...slow, health])
    expect(order.indexOf('health')).toBeLessThan(order.indexOf('slow 4'))
    queue.stop()
  })

  /** Requests of which the first 15 keep the thread so long that each turn begins one. */
  async function askMany(count: number, need: Need): Promise<number> {
    const { queue } = createQueue()
    let left = 15
    const work = () => {
      if (left-- > 0) Bun.sleepSync(60)
      if (need === 'place') queue.leave()
      return 'answered'
    }
    await queue.run(
      'thread',
      performance.now(),
      () => Bun.sleepSync(60),
      () => undefined,
    )
    const answers = Array.from({ length: count }, () =>
      queue.run(need, performance.now(), work, () => 'refused'),
    )
    const refused = (await Promise.all(answers)).filter(answer => answer === 'refused')
    queue.stop()
    return refused.length
  }

  test.each(['thread', 'place'] as const)(
    'refuses none of a few that wait for a slow machine, though they need a %s',
    async need => {
      expect(await askMany(15, need)).toBe(0)
    },
  )

  test('refuses the most of many that wait for it', async () => {
    expect(await askMany(1000, 'thread')).toBeGreaterThan(800)
  })

  test('is bounded: what is too much is refused at once', async () => {
    const { queue, ask, fill } = createQueue()
    fill()
    for (let n = 0; n < 10_000; n++) void ask('waiting')
    expect(ask('too much')).toBe('refused')
    const metrics = new Metrics()
    queue.measure(metrics)
    expect(exposition(metrics.families)).toContain('strand_http_requests_refused_total 1')
    queue.stop()
  })
})

onEachStore('a server with more reads than it has places for', {}, server => {
  test('503 for further reads, with all headers; streams from memory, operators and health checks are answered', async () => {
    const { url, world } = server()
    const asOperator = {
      method: 'POST',
      headers: { Authorization: `Bearer ${world.operator_token}`, 'Content-Type': 'application/json' },
    }
    const fault = { operation: 'GetUsers', outcome: 'slow', milliseconds: 4000, times: PLACES }
    const planned = await fetch(`${url}/control/faults`, { ...asOperator, body: JSON.stringify(fault) })
    expect(planned.status).toBe(200)
    const readers = { headers: { Authorization: `Bearer ${world.client.app_token}` } }
    const read = () => fetch(`${url}/helix/users?login=${world.broadcaster.login}`, readers)
    const slow = Array.from({ length: PLACES }, read)
    const inFlight = async () =>
      Number(/^strand_http_requests_in_flight (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])
    while ((await inFlight()) < PLACES) await Bun.sleep(10)

    const [refused, page, validate] = await Promise.all([
      read(),
      fetch(`${url}/${world.broadcaster.login}`),
      fetch(`${url}/oauth2/validate`, readers),
    ])
    expect(refused.status).toBe(503)
    expect(await refused.json()).toEqual({
      error: 'Service Unavailable',
      status: 503,
      message: 'The service is unavailable; try again shortly.',
    })
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'ratelimit-limit': expect.stringMatching(/^\d+$/),
      'ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'ratelimit-reset': expect.stringMatching(/^\d+$/),
      'retry-after': '1',
      'strand-error': 'unavailable',
      'x-request-id': expect.stringMatching(/^.{8,}$/),
    })
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
    expect(page.headers.get('retry-after')).toBe('3')
    expect([validate.status, Object.keys((await validate.json()) as object)]).toEqual([
      503,
      ['status', 'message'],
    ])
    for (const path of ['/helix/streams', '/healthz', '/readyz', '/metrics'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
    expect((await fetch(`${url}/control/users`, { headers: asOperator.headers })).status).toBe(200)

    expect(new Set((await Promise.all(slow)).map(({ status }) => status))).toEqual(new Set([200]))
    expect((await read()).status).toBe(200)
  }, 30_000)
})
