/** What callbacks make grow, and how far. */
import { expect, test } from 'bun:test'
import { ViewerSessions } from '../../src/ingest/viewer-sessions.ts'

const [MOST_VIEWERS, MOST_CHANNELS] = [100_000, 10_000]

test('of 300,000 viewers 100,000 are counted, and there is room again when they leave', () => {
  const viewers = new ViewerSessions()
  for (let index = 0; index < 300_000; index++) viewers.note('crowded', `viewer ${index}`, true)
  viewers.note('other', 'late', true)
  expect([viewers.countViewers('crowded'), viewers.countViewers('other')]).toEqual([MOST_VIEWERS, 0])
  for (let index = 0; index < 300_000; index++) viewers.note('crowded', `viewer ${index}`, false)
  viewers.note('other', 'late', true)
  expect([viewers.countViewers('crowded'), viewers.countViewers('other')]).toEqual([0, 1])
})

test('of names that are made up the last are kept, and a channel that is watched stays', () => {
  const viewers = new ViewerSessions()
  for (let index = 0; index < 50_000; index++) {
    if (index % 1000 === 0) viewers.note('watched', `viewer ${index}`, true)
    viewers.note(`name ${index}`, 'viewer', true)
  }
  expect(viewers.countViewers('watched')).toBe(50)
  const kept = Array.from({ length: 40_000 }, (_, index) => viewers.knows(`name ${index}`))
  expect(kept.filter(Boolean).length).toBeLessThan(MOST_CHANNELS)
  // What was forgotten makes room.
  for (let index = 0; index < MOST_VIEWERS; index++) viewers.note('crowded', `viewer ${index}`, true)
  expect(viewers.countViewers('crowded')).toBeGreaterThan(MOST_VIEWERS - 2 * MOST_CHANNELS - 100)
})

test('a viewer that left twice, or never came, is counted once or not at all', () => {
  const viewers = new ViewerSessions()
  for (const isThere of [false, true, true, false, false]) viewers.note('login', 'viewer', isThere)
  expect(viewers.countViewers('login')).toBe(0)
  viewers.note('login', 'another', true)
  expect(viewers.countViewers('login')).toBe(1)
})
