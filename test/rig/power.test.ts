import { describe, expect, test } from 'bun:test'
import { crashPoints } from '../../rig/power/crash-points.ts'
import { Disk, FATES } from '../../rig/power/disk.ts'
import { batchOf } from '../../rig/power/examine.ts'
import { ABSENT, HALF, Journal, judgeImage, judgeRegister } from '../../rig/power/journal.ts'
import { type DiskEvent, parseRecording } from '../../rig/power/recording.ts'
import { SeededRandom } from '../../src/kit/random.ts'

const WRITE = 1
const TRUNCATE = 2
const CREATE = 3
const UNLINK = 4
const RENAME = 5
const SYNC_BEGIN = 6
const SYNC_END = 7
const FOLDER = 0
const INODE = 77

function record(kind: number, inode: number, offset: number, payload: string | Uint8Array = ''): Uint8Array {
  const bytes = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  const whole = new Uint8Array(24 + bytes.length)
  const view = new DataView(whole.buffer)
  view.setUint32(0, kind, true)
  view.setUint32(4, bytes.length, true)
  view.setBigUint64(8, BigInt(inode), true)
  view.setBigUint64(16, BigInt(offset), true)
  whole.set(bytes, 24)
  return whole
}

/** A recording as it is made: `sync` covers everything before it. */
class Script {
  #log = new Uint8Array(0)

  add(...args: Parameters<typeof record>): this {
    this.#log = new Uint8Array(Buffer.concat([this.#log, record(...args)]))
    return this
  }

  sync(inode: number): this {
    const began = this.#log.length
    return this.add(SYNC_BEGIN, inode, 0).add(SYNC_END, inode, began)
  }

  get log(): Uint8Array {
    return this.#log
  }

  get events(): DiskEvent[] {
    return parseRecording(this.#log)
  }
}

const block = (letter: string, length = 512) => letter.repeat(length)
const asText = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)

describe('the recording', () => {
  test('every kind of record is read, with its place in the log', () => {
    const script = new Script()
      .add(CREATE, INODE, 0, 'a')
      .add(WRITE, INODE, 7, 'xyz')
      .add(TRUNCATE, INODE, 3)
      .sync(INODE)
      .add(RENAME, 0, 0, 'a/b')
      .add(UNLINK, 0, 0, 'b')
      .sync(FOLDER)
    expect(script.events).toEqual([
      { kind: 'create', file: 1, name: 'a', at: 25 },
      { kind: 'write', file: 1, offset: 7, bytes: new TextEncoder().encode('xyz'), at: 52 },
      { kind: 'truncate', file: 1, size: 3, at: 76 },
      { kind: 'sync', of: 1, began: 76, at: 124 },
      { kind: 'rename', from: 'a', to: 'b', at: 151 },
      { kind: 'unlink', name: 'b', at: 176 },
      { kind: 'sync', of: 'folder', began: 176, at: 224 },
    ])
  })

  test('an inode that is used again is another file', () => {
    const { events } = new Script()
      .add(CREATE, INODE, 0, 'a')
      .add(UNLINK, 0, 0, 'a')
      .add(CREATE, INODE, 0, 'a')
      .add(WRITE, INODE, 0, 'x')
    expect(events.at(-1)).toMatchObject({ kind: 'write', file: 2 })
  })

  test('a record that was cut off is not there; an unknown one, or a file without a beginning, is refused', () => {
    const { log } = new Script().add(CREATE, INODE, 0, 'a').add(WRITE, INODE, 0, 'xyz')
    expect(parseRecording(log.subarray(0, log.length - 1))).toHaveLength(1)
    expect(parseRecording(log.subarray(0, 30))).toHaveLength(1)
    expect(() => parseRecording(record(99, 0, 0))).toThrow('kind 99')
    expect(() => parseRecording(record(WRITE, INODE, 0, 'x'))).toThrow('created')
  })
})

describe('the disk after a power loss', () => {
  const started = () => new Script().add(CREATE, INODE, 0, 'a').sync(FOLDER)
  const images = (script: Script, fate: (typeof FATES)[number], count = 50) => {
    const { events } = script
    const disk = new Disk(events)
    disk.advance(events.length)
    return Array.from({ length: count }, (_, seed) =>
      asText(disk.image(fate, new SeededRandom(seed)).get('a')),
    )
  }

  for (const fate of FATES) {
    test(`${fate}: what was synced is there`, () => {
      const script = started()
        .add(WRITE, INODE, 0, block('a', 1024))
        .sync(INODE)
        .add(WRITE, INODE, 512, block('b'))
      for (const content of images(script, fate)) expect(content?.slice(0, 512)).toBe(block('a'))
    })
  }

  test('what came while a sync was under way is not covered by it', () => {
    const script = started().add(WRITE, INODE, 0, 'a')
    const began = script.log.length
    script.add(SYNC_BEGIN, INODE, 0).add(WRITE, INODE, 0, 'b').add(SYNC_END, INODE, began)
    expect(new Set(images(script, 'nothing kept'))).toEqual(new Set(['a']))
    expect(new Set(images(script, 'everything kept'))).toEqual(new Set(['b']))
  })

  test('a sync that did not end covers nothing', () => {
    const script = started().add(WRITE, INODE, 0, 'a').add(SYNC_BEGIN, INODE, 0)
    expect(new Set(images(script, 'nothing kept'))).toEqual(new Set(['']))
  })

  test('a prefix is torn at the borders of sectors', () => {
    const script = started().add(WRITE, INODE, 100, block('x', 2048))
    const sizes = new Set(images(script, 'a prefix kept', 200).map(content => content?.length))
    expect([...sizes].toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual([0, 512, 1024, 1536, 2048, 2148])
  })

  test('writes may be kept without those before them, and an old one may lie over a new one', () => {
    const script = started()
      .add(WRITE, INODE, 0, block('a'))
      .add(WRITE, INODE, 512, block('b'))
      .add(WRITE, INODE, 0, block('c'))
    const contents = new Set(images(script, 'some writes kept, in any order', 200))
    expect(contents).toContain('')
    expect(contents).toContain(`${'\0'.repeat(512)}${block('b')}`)
    expect(contents).toContain(block('a') + block('b'))
    expect(contents).toContain(block('c') + block('b'))
  })

  test('a sector is as it was at some time, never a mixture that it never was', () => {
    const script = started()
      .add(WRITE, INODE, 0, block('a', 1024))
      .sync(INODE)
      .add(WRITE, INODE, 0, block('b', 100))
      .add(WRITE, INODE, 100, block('c', 1024 - 100))
    const first = [block('a'), block('b', 100) + block('a', 412), block('b', 100) + block('c', 412)]
    const second = [block('a'), block('c')]
    const contents = images(script, 'each sector from another time', 200)
    expect(new Set(contents.map(each => each?.slice(0, 512)))).toEqual(new Set(first))
    expect(new Set(contents.map(each => each?.slice(512)))).toEqual(new Set(second))
    // And each for itself: the one as before and the other as after.
    expect(contents).toContain(block('a') + block('c'))
  })

  test('a truncation before the sync holds, and one after it may', () => {
    const script = started()
      .add(WRITE, INODE, 0, 'abcdef')
      .add(TRUNCATE, INODE, 4)
      .sync(INODE)
      .add(TRUNCATE, INODE, 2)
    expect(new Set(images(script, 'nothing kept'))).toEqual(new Set(['abcd']))
    for (const fate of FATES)
      for (const each of images(script, fate)) expect(['abcd', 'ab']).toContain(each ?? '')
  })

  test('what was cut off is zero when the file grows again', () => {
    const script = started()
      .add(WRITE, INODE, 0, 'abcdef')
      .add(TRUNCATE, INODE, 2)
      .add(WRITE, INODE, 5, 'x')
      .sync(INODE)
    expect(images(script, 'nothing kept', 1)).toEqual(['ab\0\0\0x'])
  })

  test('names are certain only after a sync of the folder', () => {
    const script = new Script().add(CREATE, INODE, 0, 'a').add(WRITE, INODE, 0, 'x').sync(INODE)
    expect(new Set(images(script, 'nothing kept'))).toEqual(new Set([undefined]))
    expect(new Set(images(script, 'a prefix kept'))).toEqual(new Set([undefined, 'x']))
    script.sync(FOLDER).add(UNLINK, 0, 0, 'a')
    expect(new Set(images(script, 'nothing kept'))).toEqual(new Set(['x']))
    expect(new Set(images(script, 'everything kept'))).toEqual(new Set([undefined]))
  })

  test('a renamed file is under one of its names', () => {
    const { events } = started().add(WRITE, INODE, 0, 'x').sync(INODE).add(RENAME, 0, 0, 'a/b')
    const disk = new Disk(events)
    disk.advance(events.length)
    const names = (fate: (typeof FATES)[number]) => [...disk.image(fate, new SeededRandom(1)).keys()]
    expect([names('nothing kept'), names('everything kept')]).toEqual([['a'], ['b']])
  })

  test('the power is lost in order, within the recording, and the same way for the same seed', () => {
    const { events } = started().add(WRITE, INODE, 0, 'x').sync(INODE)
    const points = crashPoints(events, 100, new SeededRandom(3))
    expect(points).toEqual(points.toSorted((a, b) => a - b))
    expect(new Set(points)).toEqual(new Set([0, 1, 2, 3, 4]))
    expect(crashPoints(events, 100, new SeededRandom(3))).toEqual(points)
  })
})

describe('the journal', () => {
  const acknowledged = (value: string, sent: number, at: number) => ({
    value,
    sent,
    acknowledged: at,
    from: sent,
    to: at,
  })
  const writes = [acknowledged('CLAIMED', 10, 20), acknowledged('FULFILLED', 30, 40)]

  test('what must be there depends on when the power was lost', () => {
    const verdicts = (value: string, at?: number) =>
      [5, 15, 25, 35, 45].map(position =>
        judgeRegister(writes, { value, ...(at !== undefined && { at }) }, position),
      )
    expect(verdicts(ABSENT)).toEqual(['held', 'held', 'lost', 'lost', 'lost'])
    expect(verdicts('CLAIMED', 15)).toEqual(['lost', 'held', 'held', 'held', 'lost'])
    expect(verdicts('FULFILLED', 35)).toEqual(['lost', 'lost', 'lost', 'held', 'held'])
    expect(verdicts(HALF)).toEqual(Array(5).fill('half applied'))
  })

  test('the right status of another write is a loss', () => {
    expect(judgeRegister(writes, { value: 'FULFILLED', at: 12 }, 45)).toBe('lost')
  })

  test('positions are taken before a request is sent and after its answer is there', async () => {
    let position = 1
    const journal = new Journal(() => position)
    await journal.write('a', 'x', async () => {
      position = 5
    })
    await journal.create(
      'there',
      key => key,
      async () => {
        position = 9
        return 'b'
      },
    )
    await journal.write('a', 'y', () => Promise.reject(new Error('no answer'))).catch(() => undefined)
    expect(journal.registers.get('a')).toMatchObject([
      { value: 'x', sent: 1, acknowledged: 5 },
      { value: 'y', sent: 9 },
    ])
    expect(journal.registers.get('b')).toMatchObject([{ value: 'there', sent: 5, acknowledged: 9 }])
    expect(journal.acknowledged).toBe(2)
    const found = judgeImage(
      journal.registers,
      key => ({ value: key === 'a' ? HALF : ABSENT }),
      Number.MAX_SAFE_INTEGER,
    )
    expect(found).toEqual({ lost: ['b'], halfApplied: ['a'] })
  })

  test('rows of a batch are one value or half of one', () => {
    const row = (status: string, updated: string) => ({ status, updated })
    const time = '2026-03-01T12:00:00.000Z'
    const later = '2026-03-01T12:00:00.001Z'
    expect(batchOf([row('CLAIMED', time), row('CLAIMED', time)])).toEqual({
      value: 'CLAIMED',
      at: Date.parse(time),
    })
    expect(batchOf([undefined, undefined])).toEqual({ value: ABSENT })
    expect(batchOf([row('CLAIMED', time), row('FULFILLED', time)])).toEqual({ value: HALF })
    expect(batchOf([row('CLAIMED', time), row('CLAIMED', later)])).toEqual({ value: HALF })
    expect(batchOf([row('CLAIMED', time), undefined])).toEqual({ value: HALF })
    expect(batchOf([undefined, row('CLAIMED', time)])).toEqual({ value: HALF })
  })
})
