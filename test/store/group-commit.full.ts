/** A group whose outcome does not arrive: it takes as long as a caller waits for a write. */
import { describe, expect, test } from 'bun:test'
import { Unavailable } from '../../src/store/errors.ts'
import { timed } from '../support/browser/lateness.ts'
import { engines } from '../support/server.ts'
import { ids, start, useTroubledServer } from './group-commit.ts'

describe.skipIf(!engines.includes('postgres'))('a group on a server that is out of reach', () => {
  const server = useTroubledServer()

  test('answers at the deadline while the outcome is unknown; the commands may still be applied', async () => {
    await server.whileLocked('select 1 from feed_head for update', async () => {
      const all = Promise.allSettled(ids.map(id => start(server.store, id)))
      await server.untilOneWaits()
      server.cable.plug()
      const { took } = await timed(all)
      for (const result of await all)
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
      expect(took).toBeLessThan(4000)
    })
  })
})
