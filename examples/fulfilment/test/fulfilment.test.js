import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'strand-client'
import { startStrand } from 'strand-server'
import { appToken } from '../src/app-token.js'
import { fulfilClaimed } from '../src/fulfil.js'
import { Grants } from '../src/grants.js'

const entitlements = Object.fromEntries(Array.from({ length: 250 }, (_, number) => [`drop_${number}`, {}]))

let strand, helix, folder, file
before(async () => {
  strand = await startStrand({ scenario: { entitlements } })
})
after(() => strand.stop())
beforeEach(() => {
  const { id: client_id, secret: client_secret } = strand.client
  const token = appToken({ baseUrl: strand.url, client_id, client_secret })
  helix = createClient({ baseUrl: strand.url, clientId: client_id, token }).helix
  folder = mkdtempSync(join(tmpdir(), 'fulfilment-'))
  file = join(folder, 'grants.jsonl')
})
afterEach(async () => {
  await strand.reset()
  rmSync(folder, { recursive: true })
})

/** The ids in the file, each as often as it was granted. */
function grantedIds() {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line).entitlement_id)
}

async function idsWith(fulfillment_status) {
  const ids = []
  for await (const { id } of helix.getDropsEntitlements.each({ fulfillment_status, first: 100 })) ids.push(id)
  return ids
}

/** Nothing is claimed, and each of these was granted once. */
async function assertFulfilledOnce(claimed) {
  assert.deepEqual(await idsWith('CLAIMED'), [])
  assert.deepEqual(grantedIds().sort(), claimed.sort())
}

test('every claimed entitlement is granted and marked', async () => {
  const claimed = await idsWith('CLAIMED')
  assert.equal(await fulfilClaimed(helix, new Grants(file)), claimed.length)
  await assertFulfilledOnce(claimed)
})

test('a failed update is repeated in the next pass, without a second grant', async () => {
  const claimed = await idsWith('CLAIMED')
  const entitlement_id = strand.world.scenario.drop_7.id
  await strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome: 'update_failed', entitlement_id })
  const grants = new Grants(file)
  await fulfilClaimed(helix, grants)
  assert.deepEqual(await idsWith('CLAIMED'), [entitlement_id])
  assert.equal(await fulfilClaimed(helix, grants), 1)
  await assertFulfilledOnce(claimed)
})

test('lost answers, a busy server and an expired token do not stop a pass', async () => {
  const claimed = await idsWith('CLAIMED')
  await strand.faults.plan({ operation: 'GetDropsEntitlements', outcome: 'token_invalid' })
  await strand.faults.plan({ operation: 'GetDropsEntitlements', outcome: 'broken_json', skip: 1 })
  await strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome: 'answer_lost' })
  await strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome: 'unavailable', skip: 1 })
  await fulfilClaimed(helix, new Grants(file))
  assert.deepEqual(await strand.faults.pending(), [])
  await assertFulfilledOnce(claimed)
})

test('a line that a crash cut off is removed, and its entitlement granted later', async () => {
  const [id, other] = await idsWith('CLAIMED')
  const line = JSON.stringify({ entitlement_id: id, user_id: '1', benefit_id: '2' })
  appendFileSync(file, `${line}\n${line.slice(0, 30)}`)
  const grants = new Grants(file)
  assert.equal(grants.size, 1)
  grants.add([{ id }, { id: other }])
  assert.deepEqual(grantedIds(), [id, other])
})

test('a service that is killed again and again grants everything once', async t => {
  const claimed = await idsWith('CLAIMED')
  const environment = {
    API_URL: strand.url,
    CLIENT_ID: strand.client.id,
    CLIENT_SECRET: strand.client.secret,
  }
  for (let run = 0; (await idsWith('CLAIMED')).length > 0; run++) {
    assert.ok(run < 20, 'the service makes no progress')
    // Slow updates, so that many kills come while one is in progress. Each run lasts a little longer than the last.
    await strand.faults.plan({
      operation: 'UpdateDropsEntitlements',
      outcome: 'slow',
      milliseconds: 200,
      times: 10,
    })
    const service = spawn(process.execPath, ['src/main.js'], {
      env: { ...process.env, ...environment, GRANTS_FILE: file },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    t.after(() => service.kill('SIGKILL'))
    await sleep(200 * (run + 1))
    service.kill('SIGKILL')
    await once(service, 'exit')
  }
  await assertFulfilledOnce(claimed)
})
