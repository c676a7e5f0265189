/**
 * Recordings after a power loss. The writes and syncs of a recording that is closed, reopened and closed again are replayed
 * into disk images (`rig/power/disk.ts`). In each, everything that was synced plays, and nothing that is half there remains.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crashPoints } from '../../rig/power/crash-points.ts'
import { Disk, FATES } from '../../rig/power/disk.ts'
import type { DiskEvent } from '../../rig/power/recording.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { Recording } from '../../src/media/recording/recording.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { RecordedPublisher, recordingOptions } from '../support/media/recorder.ts'

const IMAGES = Number(process.env.TEST_IMAGES || 60)
const NAME = 'video.mp4'
const [FILE, FRAME_BYTES] = [1, 3000]

const folder = mkdtempSync(join(tmpdir(), 'strand-power-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Notes what all file handles do: the recording has one file at a time. */
async function recordDisk(work: () => Promise<void>): Promise<DiskEvent[]> {
  const events: DiskEvent[] = []
  let at = 0
  const note = (event: object) => {
    at += 1
    events.push({ ...event, at } as DiskEvent)
  }
  const file = FILE
  note({ kind: 'create', file, name: NAME })
  note({ kind: 'sync', of: 'folder', began: at })
  const any = await open(join(folder, 'any'), 'w')
  const methods = Object.getPrototypeOf(any)
  await any.close()
  const { write, truncate, sync, datasync } = methods
  methods.write = async function (bytes: Uint8Array, from: number, length: number, offset: number) {
    const written = await write.call(this, bytes, from, length, offset)
    note({ kind: 'write', file, offset, bytes: bytes.slice(from, from + written.bytesWritten) })
    return written
  }
  methods.truncate = async function (size: number) {
    await truncate.call(this, size)
    note({ kind: 'truncate', file, size })
  }
  for (const [name, before] of Object.entries({ sync, datasync }))
    methods[name] = async function () {
      const began = at
      await before.call(this)
      note({ kind: 'sync', of: file, began })
    }
  try {
    await work()
  } finally {
    Object.assign(methods, { write, truncate, sync, datasync })
  }
  return events
}

interface Sample {
  readonly seconds: number
  readonly data: Uint8Array
}

const samplesIn = async (file: string): Promise<readonly Sample[]> =>
  (await readMp4(readFileSync(file))).find(({ kind }) => kind === 'video')?.samples ?? []

/** What a server makes of a file that it finds: undefined if nothing of it plays. */
async function recover(file: string): Promise<readonly Sample[] | undefined> {
  const recording = await Recording.reopen(recordingOptions(file))
  if (recording === undefined) return undefined
  expect(await recording.close()).toBe(true)
  return samplesIn(file)
}

describe('a recording after a power loss', () => {
  let events: DiskEvent[]
  let whole: readonly Sample[]
  /** Pictures that are on disk, whatever else happens, after so many events. */
  const synced: { readonly after: number; readonly pictures: number }[] = []

  beforeAll(async () => {
    const file = join(folder, NAME)
    events = await recordDisk(async () => {
      let recording = new Recording(recordingOptions(file))
      new RecordedPublisher(recording).play(9, { bytes: FRAME_BYTES }).end()
      await recording.close()
      recording = assertDefined(await Recording.reopen(recordingOptions(file)), 'the recording')
      new RecordedPublisher(recording, 9000).play(9, { bytes: FRAME_BYTES }).end()
      await recording.close()
    })
    whole = await samplesIn(file)
    // What is there if nothing but what was synced is kept.
    const disk = new Disk(events)
    for (const [index, { kind }] of events.entries()) {
      disk.advance(index + 1)
      if (kind !== 'sync') continue
      const image = join(folder, 'synced.mp4')
      writeFileSync(image, disk.image('nothing kept', new SeededRandom(1)).get(NAME) ?? '')
      synced.push({ after: index + 1, pictures: (await recover(image))?.length ?? 0 })
    }
  })

  test('has pictures of both parts, and is synced every few seconds', () => {
    expect(whole.length).toBe(450)
    expect(new Set(synced.map(({ pictures }) => pictures)).size).toBeGreaterThan(6)
    expect(synced.at(-1)?.pictures).toBe(450)
  })

  for (const [place, fate] of FATES.entries())
    test(`${fate}: in ${IMAGES} images, what was synced plays, and nothing half remains`, async () => {
      const random = new SeededRandom(place + 1)
      const disk = new Disk(events)
      for (const point of crashPoints(events, IMAGES, random)) {
        disk.advance(point)
        const image = join(folder, 'image.mp4')
        const bytes = disk.image(fate, random).get(NAME)
        if (bytes === undefined) continue
        writeFileSync(image, bytes)
        const found = (await recover(image)) ?? []
        const least = synced.findLast(({ after }) => after <= point)?.pictures ?? 0
        expect(found.length).toBeGreaterThanOrEqual(least)
        const isWhole = found.every(({ seconds, data }, index) => {
          const original = whole[index]
          return (
            original !== undefined && original.seconds === seconds && Buffer.from(data).equals(original.data)
          )
        })
        expect([point, isWhole]).toEqual([point, true])
      }
    })
})
