import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HEARTBEAT_SECONDS } from '../../src/domain/playback.ts'
import {
  countSlots,
  listSlots,
  losesSlots,
  MIN_SESSION_MILLISECONDS,
  mayCount,
  NO_SLOTS,
  RECENT_SLOTS,
  type SlotSet,
  slotAt,
  uniteSlots,
  withoutSlots,
  withSlot,
} from '../../src/domain/watched-minutes.ts'
import { runs } from '../support/properties.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const NOW = slotAt(START)

/** The slots of a session that sends a heartbeat when it opens, and then every 30 s. */
function watch(began: number, seconds: number): Set<number> {
  const slots = new Set<number>()
  for (let age = 0; age <= seconds * 1000; age += HEARTBEAT_SECONDS * 1000)
    if (age >= MIN_SESSION_MILLISECONDS) slots.add(slotAt(began + age))
  return slots
}

test('D whole minutes are D slots, for D from 1 to 600 and every second of a minute', () => {
  const wrong: [number, number, number][] = []
  for (let minutes = 1; minutes <= 600; minutes++)
    for (let second = 0; second < 60; second++) {
      const counted = watch(START + second * 1000, minutes * 60).size
      if (counted !== minutes) wrong.push([minutes, second, counted])
    }
  expect(wrong).toEqual([])
})

test('property: other lengths are within a minute, at any millisecond', () => {
  fc.assert(
    fc.property(fc.nat(59_999), fc.nat(36_000), (offset, seconds) => {
      expect(Math.abs(watch(START + offset, seconds).size - seconds / 60)).toBeLessThanOrEqual(1)
    }),
    { numRuns: runs(2000) },
  )
})

describe('a set of slots', () => {
  const anySet = fc
    .array(fc.integer({ min: NOW - 31, max: NOW }), { maxLength: 40 })
    .map(slots => ({ slots: new Set(slots), set: uniteSlots(NO_SLOTS, slots, NOW).set }))

  test('property: has the slots that were added, each once', () => {
    fc.assert(
      fc.property(anySet, ({ slots, set }) => {
        expect(listSlots(set)).toEqual([...slots].sort((a, b) => a - b))
        expect(countSlots(set)).toBe(slots.size)
        for (const slot of slots) expect(withSlot(set, slot)).toBeUndefined()
      }),
      { numRuns: runs(2000) },
    )
  })

  test('property: loses the slots of another', () => {
    fc.assert(
      fc.property(anySet, anySet, (one, other) => {
        const left = listSlots(withoutSlots(one.set, other.set))
        expect(left).toEqual([...one.slots].filter(slot => !other.slots.has(slot)).sort((a, b) => a - b))
      }),
      { numRuns: runs(2000) },
    )
  })

  test('loses slots if there is no room for a later one, and only then', () => {
    for (let ahead = -40; ahead <= 40; ahead++)
      for (const recent of [1, 5, 1 << 31, -1, 0x00010001]) {
        const set = { slot: NOW, recent }
        const after = withSlot(set, NOW + ahead)
        const kept = after === undefined ? listSlots(set) : listSlots(after)
        expect([ahead, recent, losesSlots(set, NOW + ahead)]).toEqual([
          ahead,
          recent,
          listSlots(set).some(slot => !kept.includes(slot)),
        ])
      }
  })

  test('property: is the same whatever the order, the parts and the repetitions of reports', () => {
    const reports = fc.array(fc.array(fc.integer({ min: NOW - 31, max: NOW })), { maxLength: 12 })
    fc.assert(
      fc.property(reports, reports, (some, more) => {
        const inTurn = [...some, ...more, ...some].reduce(credit, [NO_SLOTS, 0])
        const reversed = [...more, ...some].reverse().reduce(credit, [NO_SLOTS, 0])
        const all = new Set([...some, ...more].flat())
        expect(inTurn[1]).toBe(all.size)
        expect(reversed[1]).toBe(all.size)
        expect(listSlots(inTurn[0])).toEqual(listSlots(reversed[0]))
      }),
      { numRuns: runs(2000) },
    )
  })

  const credit = ([set, count]: [SlotSet, number], report: number[]): [SlotSet, number] => {
    const united = uniteSlots(set, report, NOW)
    return [united.set, count + united.credited.length]
  }

  test('property: never credits a slot twice, however late it is reported, and drops those that are 32 or more behind', () => {
    const { set } = uniteSlots(NO_SLOTS, [NOW], NOW)
    expect(uniteSlots(set, [NOW - RECENT_SLOTS + 1], NOW).credited).toEqual([NOW - 31])
    expect(uniteSlots(set, [NOW - RECENT_SLOTS], NOW).credited).toEqual([])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: NOW - 100, max: NOW })), reported => {
        let [stored, seen]: [SlotSet, Set<number>] = [NO_SLOTS, new Set()]
        for (const slot of reported) {
          const { set: next, credited } = uniteSlots(stored, [slot], NOW)
          for (const each of credited) expect(seen.has(each)).toBe(false)
          seen = new Set([...seen, ...credited])
          stored = next
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('clocks', () => {
  test('a slot more than two minutes ahead of the store is not credited', () => {
    for (const [ahead, credited] of [
      [0, 1],
      [2, 1],
      [3, 0],
      [500, 0],
    ] as const)
      expect(uniteSlots(NO_SLOTS, [NOW + ahead], NOW).credited).toHaveLength(credited)
  })

  test('a clock that is set back credits nothing twice', () => {
    const watched = uniteSlots(NO_SLOTS, [NOW, NOW + 1, NOW + 2], NOW + 2).set
    expect(uniteSlots(watched, [NOW, NOW + 1, NOW + 2, NOW + 3], NOW + 3).credited).toEqual([NOW + 3])
  })

  test('after a jump forward and back the viewer earns again, and no earlier minute counts twice', () => {
    const before = uniteSlots(NO_SLOTS, [NOW - 1, NOW], NOW).set
    const ahead = uniteSlots(before, [NOW + 600], NOW + 600).set
    const back = uniteSlots(ahead, [NOW - 1, NOW], NOW)
    expect(back.credited).toEqual([])
    const minutes = Array.from({ length: 40 }, (_, index) => NOW + 1 + index)
    let { set } = back
    for (const slot of minutes) {
      const next = uniteSlots(set, [slot, slot - 1], slot)
      expect(next.credited).toEqual([slot])
      set = next.set
    }
  })
})

test('a slot may count if some of it is in the span and not all of it in a pause', () => {
  const at = (seconds: number) => START + seconds * 1000
  const span = { starts: at(30), ends: at(600), pauses: [[at(90), at(240)]] as const }
  const counting = [-1, 0, 1, 2, 3, 4, 9, 10].filter(slot => mayCount(NOW + slot, span))
  // The stop is in slot 1, and the campaign continues at the start of slot 4.
  expect(counting).toEqual([0, 1, 4, 9])
})
