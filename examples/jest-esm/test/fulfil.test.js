import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { startStrand } from 'strand-server'
import { createClient } from 'strand-server/client'
import { fulfil } from '../src/fulfil.js'

let strand
let helix
beforeAll(async () => {
  strand = await startStrand({
    scenario: {
      entitlements: {
        granted: {},
        stuck_once: { update_status: 'UPDATE_FAILED', times: 1 },
        stuck: { update_status: 'UPDATE_FAILED' },
        of_another_studio: { update_status: 'UNAUTHORIZED' },
      },
    },
  })
  helix = createClient({ baseUrl: strand.url, token: strand.client.app_token }).helix
})
afterEach(() => strand.reset())
afterAll(() => strand.stop())

const statusOf = async id => (await helix.getDropsEntitlements({ id: [id] })).data[0].fulfillment_status

test('a failed update is repeated', async () => {
  const { granted, stuck_once } = strand.world.scenario
  expect(await fulfil(helix, [granted.id, stuck_once.id])).toEqual({})
  expect(await statusOf(granted.id)).toBe('FULFILLED')
  expect(await statusOf(stuck_once.id)).toBe('FULFILLED')
})

test('what cannot be marked is returned, by status', async () => {
  const { granted, stuck, of_another_studio } = strand.world.scenario
  expect(await fulfil(helix, [stuck.id, granted.id, of_another_studio.id, 'not-an-id'])).toEqual({
    UPDATE_FAILED: [stuck.id],
    UNAUTHORIZED: [of_another_studio.id],
    INVALID_ID: ['not-an-id'],
  })
  expect(await statusOf(granted.id)).toBe('FULFILLED')
  expect(await statusOf(stuck.id)).toBe('CLAIMED')
})
