/**
 * A backup that is made while a server writes holds everything that was acknowledged before it began, and no half of
 * anything; served from a new folder it answers as the old one did, with the same tokens and stream keys.
 */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { Installation, makeSmallWorld, runStrand, type SmallWorld } from './installation.ts'

const BATCH = 20
const WRITES_BEFORE = 60

const scratch = mkdtempSync(join(tmpdir(), 'strand-load-'))
afterEach(endAllProcesses)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Writes without pause, and notes what was answered. */
class Writer {
  readonly markers: string[] = []
  readonly batches: string[][] = []
  readonly #strand: Installation
  readonly #world: SmallWorld
  #stopping = false

  constructor(strand: Installation, world: SmallWorld) {
    this.#strand = strand
    this.#world = world
  }

  async run(): Promise<void> {
    await Promise.all([this.#mark(0), this.#mark(1), this.#grant(), this.#grant()])
  }

  stop(): void {
    this.#stopping = true
  }

  async #mark(who: number): Promise<void> {
    const { id, token } = this.#world.users[who] as SmallWorld['users'][number]
    while (!this.#stopping) {
      const answer = await this.#call(token, '/helix/streams/markers', { user_id: id, description: 'now' })
      this.markers.push(answer.data[0].id)
    }
  }

  async #grant(): Promise<void> {
    const { game, benefit } = this.#world
    while (!this.#stopping) {
      const ids = Array.from({ length: BATCH }, () => randomUUID())
      const grants = ids.map(id => ({ id, user_id: '1001', benefit_id: benefit, game_id: game }))
      await this.#strand.control('POST', '/entitlements', { grants })
      this.batches.push(ids)
    }
  }

  #call(token: string, path: string, body: unknown) {
    return this.#strand.call(token, 'POST', path, body)
  }
}

async function streamKeys(strand: Installation, world: SmallWorld): Promise<string[]> {
  const answers = world.users.map(({ id, token }) =>
    strand.call(token, 'GET', `/helix/streams/key?broadcaster_id=${id}`),
  )
  return (await Promise.all(answers)).map(answer => answer.data[0].stream_key)
}

test('a backup under load has every write that was acknowledged before it began, and no half batch', async () => {
  const strand = await Installation.start(join(scratch, 'data'))
  const world = await makeSmallWorld(strand, 3)
  const keys = await streamKeys(strand, world)
  const writer = new Writer(strand, world)
  const writing = writer.run()
  await strand.process.until(() => Math.min(writer.markers.length, writer.batches.length) >= WRITES_BEFORE)

  const before = { markers: [...writer.markers], batches: [...writer.batches] }
  const file = join(scratch, 'under-load.tar')
  const backup = await runStrand(['backup', file, '--data', strand.folder, '--unsealed'])
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const during = writer.batches.length - before.batches.length
  expect(during).toBeGreaterThan(0)
  writer.stop()
  await writing
  await strand.process.end('SIGKILL')

  expect(await runStrand(['verify', file])).toMatchObject({ code: 0, stderr: '' })
  const folder = join(scratch, 'restored')
  expect(await runStrand(['restore', file, '--data', folder])).toMatchObject({ code: 0, stderr: '' })
  const restored = await Installation.start(folder)

  const granted = new Set(
    (await restored.all(world.appToken, '/helix/entitlements/drops?')).map(row => row.id),
  )
  expect(before.batches.flat().filter(id => !granted.has(id))).toEqual([])
  const halves = writer.batches.filter(
    ids => ids.some(id => granted.has(id)) && !ids.every(id => granted.has(id)),
  )
  expect(halves).toEqual([])

  const marked = new Set<string>()
  for (const { id, token } of world.users) {
    for (const { videos } of await restored.all(token, `/helix/streams/markers?user_id=${id}&`)) {
      for (const { markers } of videos) for (const marker of markers) marked.add(marker.id)
    }
  }
  expect(before.markers.filter(id => !marked.has(id))).toEqual([])
  expect(await streamKeys(restored, world)).toEqual(keys)
  expect(await restored.process.end('SIGTERM')).toBe(0)
}, 60_000)
