/** `strand demo --scenario FILE`: the samples of docs/scenarios do what they describe, and a bad file starts nothing. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { checkScenario } from '../../src/demo/read-scenario.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: the world, as JSON gave it
type World = any

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'strand-scenario-'))
})
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sample = (name: string) => join(ROOT, 'docs', 'scenarios', `${name}.json`)

async function startDemo(...words: string[]): Promise<{ world: World; strand: StrandProcess }> {
  const strand = new StrandProcess(['demo', '--port', '0', '--json', '--still', '--streams', '5', ...words])
  const line = await strand.until(({ stdout }) => stdout.endsWith('\n') && stdout)
  return { world: JSON.parse(line), strand }
}

async function ask(world: World, path: string, token?: string, method = 'GET', body?: unknown) {
  const response = await fetch(`${world.base_url}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

const update = async (world: World, ids: readonly string[]) => {
  const body = { entitlement_ids: ids, fulfillment_status: 'FULFILLED' }
  return (await ask(world, '/helix/entitlements/drops', world.client.app_token, 'PATCH', body)).body.data
}

describe('the samples', () => {
  test('are all of the published form', () => {
    const files = [...new Glob('*.json').scanSync(join(ROOT, 'docs/scenarios'))]
    expect(files.length).toBeGreaterThan(2)
    for (const file of files) {
      const scenario = JSON.parse(readFileSync(join(ROOT, 'docs/scenarios', file), 'utf8'))
      expect(existsSync(join(ROOT, 'docs/scenarios', scenario.$schema))).toBe(true)
      expect(checkScenario(scenario)).toBe(scenario)
    }
  })

  test('a person is shown its ids and tokens', async () => {
    const demo = new StrandProcess(['demo', '--port', '0', '--streams', '1', '--scenario', sample('drops')])
    const command = await demo.until(({ stdout }) => /^ {2}More +strand (.*?) {2}/m.exec(stdout)?.[1])
    const lines = new StrandProcess(command.split(' '))
    expect(await lines.exit()).toBe(0)
    const { entitlements } = JSON.parse(readFileSync(sample('drops'), 'utf8'))
    for (const name of Object.keys(entitlements)) {
      expect(lines.stdout).toMatch(new RegExp(`^  ${name} +id [0-9a-f-]+, update_status [A-Z_]+$`, 'm'))
    }
    await demo.end('SIGTERM')
  })

  test('drops: every id gets the status that the scenario gave it', async () => {
    const { world } = await startDemo('--scenario', sample('drops'))
    const { stuck_once, ...things } = world.scenario as Record<string, { id: string; update_status: string }>
    const expected = Object.values(things).map(({ id, update_status }) => [id, update_status])
    expect(new Set(expected.map(([, status]) => status)).size).toBe(5)
    const groups = await update(
      world,
      expected.map(([id]) => id as string),
    )
    const seen = groups.flatMap(({ ids, status }: World) => ids.map((id: string) => [id, status]))
    expect(seen.toSorted()).toEqual(expected.toSorted())

    const once = stuck_once?.id ?? ''
    expect(await update(world, [once])).toEqual([{ status: 'UPDATE_FAILED', ids: [once] }])
    expect(await update(world, [once])).toEqual([{ status: 'SUCCESS', ids: [once] }])
  })

  test('trouble: 503, 429, slow, and tokens that are not good', async () => {
    const { world } = await startDemo('--scenario', sample('trouble'))
    const { expired, revoked, without_scopes, expired_app, ends_in_a_minute } = world.scenario
    const statuses = async (count: number, path: string, token?: string) => {
      const seen: number[] = []
      for (let index = 0; index < count; index++) seen.push((await ask(world, path, token)).status)
      return seen
    }
    expect(await statuses(2, '/helix/streams')).toEqual([503, 200])
    expect(await statuses(3, '/helix/entitlements/drops', world.client.app_token)).toEqual([429, 429, 200])
    const began = performance.now()
    await ask(world, `/helix/streams/markers?user_id=${world.broadcaster.id}`, world.broadcaster.token)
    expect(performance.now() - began).toBeGreaterThan(290)

    const key = `/helix/streams/key?broadcaster_id=${world.broadcaster.id}`
    expect((await ask(world, key, world.broadcaster.token)).status).toBe(200)
    for (const { token } of [expired, revoked, without_scopes]) {
      expect((await ask(world, key, token)).status).toBe(401)
    }
    expect((await ask(world, key, without_scopes.token)).body.message).toContain('channel:read:stream_key')
    expect((await ask(world, '/helix/entitlements/drops', expired_app.token)).status).toBe(401)

    const followed = `/helix/streams/followed?user_id=${ends_in_a_minute.user_id}`
    expect((await ask(world, followed, ends_in_a_minute.token)).status).toBe(200)
    await ask(world, '/control/clock', world.operator_token, 'POST', { advance_seconds: 61 })
    expect((await ask(world, followed, ends_in_a_minute.token)).status).toBe(401)
  })

  test('channels: live, without videos, offline, with videos, followed', async () => {
    const { world } = await startDemo('--scenario', sample('channels'))
    const { star, keeps_nothing, away, retired, fan } = world.scenario
    const [top] = (await ask(world, '/helix/streams?first=1')).body.data
    expect(top).toMatchObject({
      id: '77000001',
      user_id: '4200001',
      user_login: 'reef_star',
      viewer_count: 900_000,
    })
    expect(star).toMatchObject({ id: top.user_id, stream_id: top.id })
    const markers = (user: World) => ask(world, `/helix/streams/markers?user_id=${user.id}`, user.token)
    expect((await ask(world, `/helix/streams?user_id=${keeps_nothing.id}`)).body.data).toHaveLength(1)
    expect((await markers(keeps_nothing)).status).toBe(404)
    expect((await ask(world, `/helix/streams?user_id=${away.id}`)).body.data).toEqual([])
    expect((await markers(away)).status).toBe(404)
    expect((await markers(retired)).status).toBe(200)
    const followed = await ask(world, `/helix/streams/followed?user_id=${fan.id}`, fan.token)
    expect(followed.body.data.map((stream: World) => stream.user_id)).toEqual([star.id, world.broadcaster.id])
  })

  test('a reset brings the scenario back, its faults included', async () => {
    const { world } = await startDemo('--scenario', sample('trouble'))
    expect((await ask(world, '/helix/streams')).status).toBe(503)
    expect((await ask(world, '/helix/streams')).status).toBe(200)
    expect((await ask(world, '/control/reset', world.operator_token, 'POST')).status).toBe(204)
    expect((await ask(world, '/helix/streams')).status).toBe(503)
  })
})

describe('the same seed, scenario and clock', () => {
  test('make the same world to the letter', async () => {
    const words = ['--scenario', sample('channels'), '--clock', '2026-03-01T12:00:00Z', '--seed', '7']
    const seen: string[] = []
    for (let turn = 0; turn < 2; turn++) {
      const { world, strand } = await startDemo(...words)
      const { data } = (await ask(world, '/helix/streams?first=100')).body
      const drops = await ask(world, '/helix/entitlements/drops?first=100', world.client.app_token)
      const text = JSON.stringify([world, data, drops.body.data])
      seen.push(text.replaceAll(/localhost:\d+/g, 'localhost:0'))
      expect(data[0].started_at).toBe('2026-03-01T11:00:00Z')
      await strand.end('SIGTERM')
    }
    expect(seen[0]).toBe(seen[1] as string)
  })

  test('in a folder, the world continues with its scenario and not with another', async () => {
    const data = join(folder, 'kept')
    const { strand } = await startDemo('--data', data, '--scenario', sample('drops'))
    await strand.end('SIGTERM')
    const { world, strand: again } = await startDemo('--data', data)
    expect(world.scenario.granted.id).toBe('5f2d1c3e-8c0a-4b6e-9d57-1f0b8a7c6d01')
    await again.end('SIGTERM')
    const other = new StrandProcess(['demo', '--port', '0', '--data', data, '--scenario', sample('trouble')])
    expect([await other.exit(), other.stderr.split('\n').length]).toEqual([1, 2])
    expect(other.stderr).toContain('created without this scenario')
  })
})

describe('a bad scenario: one sentence with the place, exit code 2, nothing started', () => {
  const bad: Record<string, [contents: string, place: string]> = {
    'that is not JSON': ['{', ': not JSON: '],
    'that is a list': ['[]', '$ must be object'],
    'with a field that there is not': ['{"tokns": {}}', '$.tokns is not a field'],
    'with a field deep inside': [
      '{"users": {"a": {"stream": {"viewers": 1}}}}',
      '$.users.a.stream.viewers is not a field',
    ],
    'with a value that is none of those allowed': [
      '{"tokens": {"old": {"state": "stale"}}}',
      '$.tokens.old.state must be one of good, expired, revoked',
    ],
    'with a number out of range': [
      '{"users": {"a": {"past_videos": 21}}}',
      '$.users.a.past_videos must be <= 20',
    ],
    'with a name that is none': ['{"users": {"a b": {}}}', '$.users.a b must match'],
    'with a name used twice': [
      '{"users": {"a": {}}, "tokens": {"a": {}}}',
      '$.tokens.a has the same name as $.users.a',
    ],
    'that names an unknown user': [
      '{"tokens": {"t": {"user": "someone"}}}',
      '$.tokens.t.user is "someone", but must be broadcaster',
    ],
    'that follows an unknown user': [
      '{"users": {"a": {"follows": ["viewer", "b"]}}}',
      '$.users.a.follows[1] is ',
    ],
    'with an id that is no UUID': [
      '{"entitlements": {"e": {"id": "1"}}}',
      '$.entitlements.e.id must be a UUID',
    ],
    'with an invalid id that is valid': [
      '{"entitlements": {"e": {"update_status": "INVALID_ID", "id": "5f2d1c3e-8c0a-4b6e-9d57-1f0b8a7c6d01"}}}',
      '$.entitlements.e.id is a UUID',
    ],
    'with one id for two entitlements': [
      '{"entitlements": {"e": {"id": "5f2d1c3e-8c0a-4b6e-9d57-1f0b8a7c6d01"}, "f": {"id": "5F2D1C3E-8c0a-4b6e-9d57-1f0b8a7c6d01"}}}',
      '$.entitlements.f.id is "5f2d1c3e-8c0a-4b6e-9d57-1f0b8a7c6d01", which is taken',
    ],
    'with one id for two users': [
      '{"users": {"a": {"id": "5"}, "b": {"id": "5"}}}',
      '$.users.b.id is the same as $.users.a.id',
    ],
    'with a login that is taken': [
      '{"users": {"a": {"login": "same"}, "same": {}}}',
      '$.users.same.login is "same", which is taken',
    ],
    'with times that do not apply': [
      '{"entitlements": {"e": {"times": 2}}}',
      '$.entitlements.e.times is only allowed with UPDATE_FAILED',
    ],
    'with an app token of a user': [
      '{"tokens": {"t": {"kind": "app", "user": "viewer"}}}',
      '$.tokens.t.user is not allowed for an app token',
    ],
    'with an operation that there is not': [
      '{"faults": [{"operation": "GetNothing", "outcome": "slow"}]}',
      '$.faults[0] cannot be planned: There is no operation called "GetNothing"',
    ],
    'with a fault for no entitlement': [
      '{"faults": [{"operation": "UpdateDropsEntitlements", "outcome": "update_failed", "entitlement_id": "e"}]}',
      '$.faults[0].entitlement_id is "e", which is neither a UUID nor a name under $.entitlements',
    ],
    'with an unknown field of a fault': [
      '{"faults": [{"operation": "UpdateDropsEntitlements", "outcome": "update_failed", "entitlement": "e"}]}',
      '$.faults[0].entitlement is not a field of a scenario; the fields are operation, outcome, entitlement_id',
    ],
  }
  for (const [title, [contents, place]] of Object.entries(bad)) {
    test(`a file ${title}`, async () => {
      const file = join(folder, 'bad.json')
      writeFileSync(file, contents)
      const strand = new StrandProcess(['demo', '--port', '0', '--scenario', file])
      const code = await strand.exit()
      const [sentence = '', ...rest] = strand.stderr.split('\n')
      expect({ code, stdout: strand.stdout, rest }).toEqual({ code: 2, stdout: '', rest: [''] })
      expect(sentence).toStartWith(`strand: `)
      expect(sentence).toContain(place)
    })
  }

  test('a file that is not there', async () => {
    const strand = new StrandProcess(['demo', '--port', '0', '--scenario', join(folder, 'none.json')])
    expect(await strand.exit()).toBe(2)
    expect(strand.stderr).toContain('none.json cannot be read')
  })

  test('a clock without a time, stopped or running', async () => {
    for (const words of [['--clock', 'noon'], ['--clock', '2026-02-30T00:00:00Z'], ['--clock-runs']]) {
      const strand = new StrandProcess(['demo', '--port', '0', ...words])
      expect([words, await strand.exit()]).toEqual([words, 2])
    }
  })
})
