import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { startStrand } from 'strand-server'
import { createClient } from 'strand-server/client'
import { highlight } from '../src/highlight.js'

const strand = await startStrand({
  clock: '2026-03-01T12:00:00Z',
  scenario: { users: { otter: { stream: { started_seconds_ago: 3600 } }, newt: {} } },
})
after(() => strand.stop())
afterEach(() => strand.reset())

const helixOf = ({ token }) => createClient({ baseUrl: strand.url, token }).helix

test('a marker is where the broadcast is', async () => {
  const { otter } = strand.world.scenario
  assert.equal(await highlight(helixOf(otter), otter.id, 'start'), '1:00:00')
  await strand.clock.advance(123)
  assert.equal(await highlight(helixOf(otter), otter.id, 'a fall'), '1:02:03')
})

test('an offline channel has no marker', async () => {
  const { newt } = strand.world.scenario
  assert.equal(await highlight(helixOf(newt), newt.id, 'nothing'), undefined)
})

test('a refused token is an error', async () => {
  const { newt, otter } = strand.world.scenario
  await assert.rejects(highlight(helixOf(newt), otter.id, 'not mine'), { status: 403 })
})
