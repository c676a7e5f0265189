import { describe, expect, test } from 'bun:test'
import { tornReads } from '../../rig/judge/batches.ts'
import { judge } from '../../rig/judge/judge.ts'
import { explain } from '../../rig/judge/linearizable.ts'
import type { Operation, Outcome, Read, Write } from '../../rig/judge/operation.ts'
import { backwardReads } from '../../rig/judge/versions.ts'
import { faultsOfWalk } from '../../rig/judge/walks.ts'
import { PLANTED_BUGS, simulate } from './planted-bugs.ts'

const initial = { status: 'CLAIMED', version: '0' }

function write(status: string, invoked: number, returned: number, outcome: Outcome = 'ok'): Write {
  return { kind: 'write', process: 'writer', key: 'g', status, invoked, returned, outcome }
}

function read(status: string, version: string, invoked: number, returned: number): Read {
  const rows = [{ status, version }]
  return { kind: 'read', process: 'reader', key: 'g', rows, invoked, returned, outcome: 'ok' }
}

const good: Readonly<Record<string, Operation[]>> = {
  'nothing happened': [],
  'a read before any write': [read('CLAIMED', '0', 0, 1)],
  'a write and then a read of it': [write('FULFILLED', 0, 1), read('FULFILLED', '1', 2, 3)],
  'a read beside a write shows the old state': [write('FULFILLED', 0, 9), read('CLAIMED', '0', 2, 3)],
  'a read beside a write shows the new state': [write('FULFILLED', 0, 9), read('FULFILLED', '1', 2, 3)],
  'two writes at once, in the order that the reads show': [
    write('FULFILLED', 0, 9),
    write('CLAIMED', 1, 9),
    read('CLAIMED', '1', 2, 3),
    read('FULFILLED', '2', 4, 5),
  ],
  'an unknown write that never happened': [write('FULFILLED', 0, 1, 'unknown'), read('CLAIMED', '0', 90, 91)],
  'an unknown write that happened long after its caller gave up': [
    write('FULFILLED', 0, 1, 'unknown'),
    read('CLAIMED', '0', 50, 51),
    read('FULFILLED', '1', 90, 91),
  ],
  'a failed write that no read shows': [write('FULFILLED', 0, 1, 'fail'), read('CLAIMED', '0', 2, 3)],
  'three unknown writes of which two happened': [
    write('FULFILLED', 0, 1, 'unknown'),
    write('FULFILLED', 2, 3, 'unknown'),
    write('CLAIMED', 2, 3, 'unknown'),
    read('CLAIMED', '1', 10, 11),
    read('FULFILLED', '2', 12, 13),
  ],
}

const bad: Readonly<Record<string, Operation[]>> = {
  'an acknowledged write is gone': [write('FULFILLED', 0, 1), read('CLAIMED', '0', 2, 3)],
  'an acknowledged write that sets what was there already is gone': [
    write('CLAIMED', 0, 1),
    read('CLAIMED', '0', 2, 3),
  ],
  'a new state is seen and then the old one again': [
    write('FULFILLED', 0, 99),
    read('FULFILLED', '1', 2, 3),
    read('CLAIMED', '0', 4, 5),
  ],
  'a failed write is seen': [write('FULFILLED', 0, 1, 'fail'), read('FULFILLED', '1', 2, 3)],
  'one unknown write is seen twice': [
    write('FULFILLED', 0, 1, 'unknown'),
    read('FULFILLED', '1', 2, 3),
    read('FULFILLED', '2', 4, 5),
  ],
  'a write is seen before it was asked for': [read('FULFILLED', '1', 0, 1), write('FULFILLED', 2, 3)],
  'an unknown write is seen before it was asked for': [
    read('FULFILLED', '1', 0, 1),
    write('FULFILLED', 2, 3, 'unknown'),
  ],
  'a version goes back': [
    write('FULFILLED', 0, 1),
    read('FULFILLED', '5', 2, 3),
    write('FULFILLED', 4, 5),
    read('FULFILLED', '4', 6, 7),
  ],
}

describe('a register', () => {
  for (const [name, history] of Object.entries(good)) {
    test(`linearizable: ${name}`, () => {
      expect(explain(history, initial)).toEqual({ verdict: 'linearizable' })
    })
  }
  for (const [name, history] of Object.entries(bad)) {
    test(`impossible: ${name}`, () => {
      expect(explain(history, initial)).toMatchObject({ verdict: 'impossible' })
    })
  }

  test('linearizable: two hundred unknown writes among a thousand reads do not tire it', () => {
    const unknown = Array.from({ length: 200 }, (_, at) =>
      write(at % 2 === 0 ? 'FULFILLED' : 'CLAIMED', at, at + 1, 'unknown'),
    )
    const reads = Array.from({ length: 1000 }, (_, at) => {
      const seen = Math.floor(at / 50)
      return read(
        seen % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
        String(seen + 1).padStart(4, '0'),
        300 + at,
        302 + at,
      )
    })
    expect(explain([...unknown, ...reads], initial)).toEqual({ verdict: 'linearizable' })
  })
})

describe('batches and versions', () => {
  const rows = (...versions: string[]) => versions.map(version => ({ status: 'CLAIMED', version }))

  test('torn: rows of two writes, or rows missing', () => {
    const whole = { ...read('CLAIMED', '1', 0, 1), rows: rows('1', '1') }
    const mixed = { ...whole, rows: rows('1', '2') }
    const short = { ...whole, rows: rows('1') }
    expect(tornReads([whole, mixed, short], 2)).toEqual([mixed, short])
  })

  test('backward: an older version shown to the same client', () => {
    const newer = read('CLAIMED', '2', 0, 1)
    const older = read('CLAIMED', '1', 2, 3)
    expect(backwardReads([newer, older])).toEqual([older])
    expect(backwardReads([newer, { ...older, process: 'another' }])).toEqual([])
  })
})

test('walks: twice, missing and never live are counted', () => {
  const walk = { shown: ['1', '2', '2', '9'], servers: [], whole: true }
  expect(faultsOfWalk(walk, { throughout: ['1', '3'], sometimes: new Set(['2']) })).toEqual({
    twice: 1,
    missing: 1,
    neverLive: 1,
  })
})

describe('planted bugs', () => {
  const SEEDS = Array.from({ length: 20 }, (_, seed) => seed + 1)

  test('a store without a bug is never accused', () => {
    for (const seed of SEEDS) {
      const { history, groups } = simulate('none', seed)
      expect(history.some(each => each.outcome === 'unknown')).toBe(true)
      const { impossible, undecided, torn, backward } = judge(history, groups)
      expect({ seed, impossible, undecided, torn, backward }).toEqual({
        seed,
        impossible: [],
        undecided: 0,
        torn: 0,
        backward: 0,
      })
    }
  })

  for (const bug of PLANTED_BUGS) {
    test(`caught: ${bug}`, () => {
      const missed = SEEDS.filter(seed => {
        const { history, groups } = simulate(bug, seed)
        const { impossible, torn } = judge(history, groups)
        return impossible.length + torn === 0
      })
      expect(missed).toEqual([])
    })
  }
})
