import { describe, expect, test } from 'bun:test'
import type { Caller } from '../../src/domain/caller.ts'
import { ResponseCache } from '../../src/http/endpoint/response-cache.ts'

const anonymous: Caller = { kind: 'anonymous' }
const app: Caller = { kind: 'app', client_id: 'c', organization_id: null }
const MINUTE = 60_000

describe('kept answers', () => {
  test('are found by the same caller with the same question, as often as they are asked for', async () => {
    const hot = new ResponseCache()
    hot.at(1, 0).keep(anonymous, 'first=1', '{"data":["é"]}')
    for (let n = 0; n < 3; n++) {
      expect(await hot.at(1, n).find(anonymous, 'first=1')?.text()).toBe('{"data":["é"]}')
    }
    expect(hot.at(1, 0).find(anonymous, 'first=2')).toBeUndefined()
    expect(hot.at(1, 0).find(app, 'first=1')).toBeUndefined()
  })

  test('are gone when the version moves, also back to a former one, and after a minute', () => {
    const hot = new ResponseCache()
    hot.at(1, 0).keep(anonymous, '', '{}')
    expect(hot.at(1, MINUTE).find(anonymous, '')).toBeDefined()
    expect(hot.at(1, MINUTE + 1).find(anonymous, '')).toBeUndefined()
    hot.at(1, MINUTE + 1).keep(anonymous, '', '{}')
    expect(hot.at(2, MINUTE + 1).find(anonymous, '')).toBeUndefined()
    expect(hot.at(1, MINUTE + 1).find(anonymous, '')).toBeUndefined()
  })

  test('that were made while the version moved on are never found', () => {
    const hot = new ResponseCache()
    const before = hot.at(1, 0)
    const after = hot.at(2, 0)
    before.keep(anonymous, '', '{}')
    expect(after.find(anonymous, '')).toBeUndefined()
    expect(hot.at(2, 0).find(anonymous, '')).toBeUndefined()
  })

  test('are few', () => {
    const answers = new ResponseCache().at(1, 0)
    const callers = Array.from({ length: 10 }, (_, n): Caller => ({ ...app, client_id: String(n) }))
    for (const caller of callers) for (let n = 0; n < 100; n++) answers.keep(caller, String(n), '{}')
    const found = callers.flatMap(caller =>
      Array.from({ length: 100 }, (_, n) => answers.find(caller, String(n)) ?? []).flat(),
    )
    expect(found.length).toBe(500)
  })
})
