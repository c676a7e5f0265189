/** Adapters with requests that no media server sends. */
import { describe, expect, test } from 'bun:test'
import type { Outcome } from '../../src/ingest/adapters/adapter.ts'
import { adapters } from '../../src/ingest/adapters/index.ts'
import { type Fields, formOf, PUBLISH, replaced } from '../support/media/forged-callbacks.ts'

const OUTCOMES: readonly Outcome[] = [
  { kind: 'accepted', login: 'login', user_id: '1' },
  { kind: 'refused' },
  { kind: 'noted' },
  { kind: 'gone' },
]
const REPORTED = { session: '7', login: 'login', key: 'live_1_key', address: '192.0.2.7' }

describe('two fields with any values make an event, or none', () => {
  for (const adapter of Object.values(adapters))
    test(adapter.name, () => {
      const fields = PUBLISH[adapter.name](REPORTED)
      const requestOf = (each: Fields) =>
        adapter.name === 'nginx-rtmp' ? { form: formOf(each) } : { json: each }
      expect(adapter.read(requestOf(fields))?.kind).toBe('publish')
      for (const once of replaced(fields))
        for (const twice of replaced(once, ['\ud800', { toString: 1, valueOf: 1 }, '', 7])) {
          const request = requestOf(twice)
          adapter.read(request)
          for (const outcome of OUTCOMES)
            expect(adapter.respond(outcome, request).status).toBeGreaterThan(199)
        }
    })
})
