import { expect, test } from 'bun:test'
import { ResponseHeaders } from '../../src/http/responses/response-headers.ts'

const RATES = ['Ratelimit-Limit', 'Ratelimit-Remaining', 'Ratelimit-Reset']
const allowance = (remaining: number, reset: number) => ({ allowed: true, limit: 800, remaining, reset })
const rates = (response: Response) => RATES.map(name => response.headers.get(name))

test('response headers are filled in for each answer, and an answer keeps what it was given', async () => {
  const responseHeaders = new ResponseHeaders({ 'Content-Type': 'application/json', Vary: 'Authorization' })
  const first = responseHeaders.respond(200, '1', { requestId: 'a', allowance: allowance(7, 100) })
  const second = responseHeaders.respond(404, '2', { requestId: 'b', allowance: allowance(6, 101) })
  const third = responseHeaders.respond(204, null, { requestId: 'c', allowance: undefined })
  const fourth = responseHeaders.respond(200, new Blob(['4']), {
    requestId: 'd',
    allowance: allowance(6, 101),
  })
  expect([first, second, third, fourth].map(each => each.status)).toEqual([200, 404, 204, 200])
  expect([first, second, third, fourth].map(each => each.headers.get('X-Request-Id'))).toEqual([
    'a',
    'b',
    'c',
    'd',
  ])
  expect([first, second, third, fourth].map(rates)).toEqual([
    ['800', '7', '100'],
    ['800', '6', '101'],
    [null, null, null],
    ['800', '6', '101'],
  ])
  for (const each of [first, second, third, fourth]) {
    expect(each.headers.get('Content-Type')).toBe('application/json')
    expect(each.headers.get('Vary')).toBe('Authorization')
  }
  expect(await Promise.all([first, second, fourth].map(each => each.text()))).toEqual(['1', '2', '4'])
})

test('what is added to one answer is on no other', () => {
  const responseHeaders = new ResponseHeaders({ 'Cache-Control': 'no-store' })
  const refused = responseHeaders.respond(503, '', { requestId: 'a', allowance: undefined })
  refused.headers.set('Retry-After', '1')
  const next = responseHeaders.respond(200, '', { requestId: 'b', allowance: undefined })
  expect(next.headers.has('Retry-After')).toBe(false)
})

test('answers in any order carry the rates that they were given', () => {
  const responseHeaders = new ResponseHeaders({ 'Cache-Control': 'no-store' })
  for (let n = 0; n < 1000; n++) {
    const given = { allowed: true, limit: 800 + (n % 3), remaining: (n * 37) % 150, reset: 100 + (n % 7) }
    const answer = responseHeaders.respond(200, '', { requestId: `${n}`, allowance: given })
    expect(rates(answer)).toEqual([given.limit, given.remaining, given.reset].map(String))
    expect(answer.headers.get('X-Request-Id')).toBe(`${n}`)
    const without = responseHeaders.respond(200, '', { requestId: 'none', allowance: undefined })
    expect(rates(without)).toEqual([null, null, null])
  }
})
