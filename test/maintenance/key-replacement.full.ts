/** Reads and writes go on while the master key of a running server is replaced. */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseMasterKeys } from '../../src/kit/crypto/key-ring.ts'
import { type Environment, endAllProcesses } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { Installation, makeSmallWorld, runStrand, type SmallWorld } from './installation.ts'

const USERS = 12

const places: StorePlace[] = []
afterAll(async () => {
  await endAllProcesses()
  for (const place of places) await place.remove()
})

const readKey = async (strand: Installation, { id, token }: SmallWorld['users'][number]): Promise<string> =>
  (await strand.call(token, 'GET', `/helix/streams/key?broadcaster_id=${id}`)).data[0].stream_key

/** The keys that ID tokens are verified with. */
const published = (strand: Installation) => strand.call('', 'GET', '/oauth2/keys')

/** Reads stream keys without pause, makes new ones, and counts what did not come out as it should. */
class Load {
  reads = 0
  readonly failures: string[] = []
  #stopping = false

  async run(strand: Installation, world: SmallWorld, keys: readonly string[]): Promise<void> {
    const note = (error: unknown) => this.failures.push(String(error))
    const read = async (n: number) => {
      const user = world.users[n % USERS] as SmallWorld['users'][number]
      const key = await readKey(strand, user)
      if (key !== keys[n % USERS]) throw new Error(`another key for ${user.id}`)
      this.reads += 1
    }
    const reader = async (first: number) => {
      for (let n = first; !this.#stopping; n++) await read(n).catch(note)
    }
    const maker = async () => {
      for (let n = 0; !this.#stopping; n++) {
        await strand.control('PUT', `/users/${5000 + n}`, { login: `made_${n}` }).catch(note)
      }
    }
    await Promise.all([reader(0), reader(5), maker()])
  }

  stop(): void {
    this.#stopping = true
  }
}

for (const engine of engines) {
  test.concurrent(`0 failed reads while the master key is replaced, and all are readable without the old one, on ${engine}`, async () => {
    const place = await createStorePlace(engine)
    places.push(place)
    const environment: Environment =
      place.databaseUrl === undefined ? {} : { DATABASE_URL: place.databaseUrl }
    const data = ['--data', place.folder]
    const ring = (...words: string[]) => runStrand(['key-ring', ...words, ...data], environment)
    const ids = () =>
      parseMasterKeys(readFileSync(join(place.folder, 'master-keys'), 'utf8').trim())?.map(key => key.id)
    const strand = await Installation.start(
      place.folder,
      environment,
      place.databaseUrl === undefined ? [] : ['--workers', '2'],
    )
    const world = await makeSmallWorld(strand, USERS)
    const keys = await Promise.all(world.users.map(user => readKey(strand, user)))
    const signing = await published(strand)
    const [old = ''] = ids() ?? []
    const walk = await strand.control('GET', '/users?first=2')

    const load = new Load()
    const loading = load.run(strand, world, keys)
    expect(await ring('add')).toMatchObject({ code: 0 })
    const [fresh = ''] = ids() ?? []
    expect(ids()).toEqual([fresh, old])
    const onward = await strand.control('GET', `/users?first=2&after=${walk.pagination.cursor}`)
    expect(onward.data).toHaveLength(2)

    const early = await ring('retire', old, '--yes')
    expect(early.code).toBe(1)
    expect(early.stderr).toContain('1 signing keys are still sealed')
    expect((await ring('retire', fresh, '--yes')).stderr).toMatch(/newest|still sealed/)
    const resealed = await ring('reseal', '--json')
    expect(resealed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(resealed.stdout)).toEqual({
      id: fresh,
      resealed: expect.any(Number),
      unopened: [],
      resealed_signing_keys: 1,
      unopened_signing_keys: [],
      resealed_webhook_secrets: 0,
      unopened_webhook_secrets: [],
    })
    const retired = await ring('retire', old, '--yes', '--json')
    expect(retired).toEqual({ code: 0, stdout: `${JSON.stringify({ id: old })}\n`, stderr: '' })
    expect(ids()).toEqual([fresh])
    load.stop()
    await loading
    expect(load.failures).toEqual([])
    expect(load.reads).toBeGreaterThan(100)
    expect(await strand.process.end('SIGTERM')).toBe(0)

    const again = await Installation.start(place.folder, environment)
    expect(await Promise.all(world.users.map(user => readKey(again, user)))).toEqual(keys)
    const { keys: listed } = JSON.parse((await ring('list', '--json')).stdout)
    const made = await again.all(
      readFileSync(join(place.folder, 'operator-token'), 'utf8').trim(),
      '/control/users?',
    )
    expect(listed).toEqual([
      {
        id: fresh,
        newest: true,
        in_ring: true,
        stream_keys: made.length,
        signing_keys: 1,
        webhook_secrets: 0,
      },
    ])
    expect(await published(again)).toEqual(signing)
    expect(made.length).toBeGreaterThan(USERS)
    if (engine === 'sqlite') expect(await runStrand(['verify', ...data])).toMatchObject({ code: 0 })
  }, 180_000)
}
