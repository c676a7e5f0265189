/** No member can fill the queue for the others, and all who wait take turns. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue, type QueuePlace } from '../../src/kit/queues/fair-queue.ts'

const LIMITS = { perMember: 3, perGroup: 6, total: 24 }

interface Item extends QueuePlace {
  readonly number: number
}

let numbers = 0
const item = (group: string, member = group): Item => ({ group, member, number: ++numbers })
const add = (queue: FairQueue<Item>, group: string, member = group) => {
  const added = item(group, member)
  return { added, ...queue.add(added, added) }
}
const drain = (queue: FairQueue<Item>): Item[] => {
  const taken: Item[] = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next)
  return taken
}

describe('a fair queue', () => {
  test('items of one member come in their order', () => {
    const queue = new FairQueue<Item>(LIMITS)
    const items = [add(queue, 'a').added, add(queue, 'a').added, add(queue, 'a').added]
    expect(drain(queue)).toEqual(items)
    expect(queue.take()).toBeUndefined()
  })

  test('groups take turns, and in a group its members, however many items each has', () => {
    const queue = new FairQueue<Item>(LIMITS)
    for (const member of ['a1', 'a1', 'a1', 'a2', 'a2', 'a3']) add(queue, 'a', member)
    for (const member of ['b1', 'b1']) add(queue, 'b', member)
    expect(drain(queue).map(({ member }) => member)).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'a1', 'a2', 'a1'])
  })

  test('one that was not served lately goes before those that were', () => {
    const queue = new FairQueue<Item>(LIMITS)
    for (const group of ['a', 'b', 'c']) for (let n = 0; n < 3; n++) add(queue, group)
    for (let n = 0; n < 3; n++) queue.take()
    add(queue, 'new')
    expect(queue.take()?.group).toBe('new')
    for (let n = 0; n < 4; n++) queue.take()
    add(queue, 'new')
    expect(drain(queue)[0]?.group).not.toBe('a')
  })

  test('those who give up and come back are behind one who comes for the first time', () => {
    const queue = new FairQueue<Item>(LIMITS)
    for (const group of ['a', 'b', 'c']) {
      const { added } = add(queue, group)
      queue.remove(added, added)
      add(queue, group)
    }
    add(queue, 'new')
    expect(drain(queue).map(({ group }) => group)).toEqual(['new', 'a', 'b', 'c'])
  })

  test('a member over its limit is refused, and so is a group', () => {
    const queue = new FairQueue<Item>(LIMITS)
    for (let n = 0; n < 3; n++) expect(add(queue, 'a', 'a1').outcome).toBe('added')
    expect(add(queue, 'a', 'a1').outcome).toBe('full')
    for (let n = 0; n < 3; n++) expect(add(queue, 'a', 'a2').outcome).toBe('added')
    expect(add(queue, 'a', 'a3').outcome).toBe('full')
    expect(add(queue, 'b').outcome).toBe('added')
  })

  test('a full queue takes a newcomer from elsewhere instead of the newest of the largest group', () => {
    const queue = new FairQueue<Item>(LIMITS)
    const newest = new Map<string, Item>()
    for (const group of ['a', 'b', 'c', 'd'])
      for (const member of ['1', '1', '1', '2', '2', '2'])
        newest.set(group, add(queue, group, `${group}${member}`).added)
    queue.take()
    add(queue, 'e')
    const { outcome, displaced } = add(queue, 'f') as { outcome: string; displaced?: Item }
    expect(outcome).toBe('added')
    expect([...newest.values()]).toContain(displaced as Item)
    expect(queue.size).toBe(LIMITS.total)
  })

  test('where all have one item, a newcomer displaces one that was served before, and not one that was not', () => {
    const queue = new FairQueue<Item>(LIMITS)
    for (let n = 0; n < LIMITS.total; n++) add(queue, `g${n}`)
    expect(add(queue, 'new').outcome).toBe('full')
    expect(queue.take()?.group).toBe('g0')
    add(queue, 'g0')
    expect(add(queue, 'new')).toMatchObject({ outcome: 'added', displaced: { group: 'g0' } })
  })

  test('names that look alike are distinguished', () => {
    const queue = new FairQueue<Item>(LIMITS)
    for (const [group, member] of [
      ['__proto__', 'constructor'],
      ['a', 'b/c'],
      ['a/b', 'c'],
      ['', ''],
    ] as const)
      expect(add(queue, group, member).outcome).toBe('added')
    expect(drain(queue)).toHaveLength(4)
  })
})

const place = fc.record({
  group: fc.integer({ min: 0, max: 12 }).map(n => `g${n}`),
  member: fc.integer({ min: 0, max: 4 }).map(n => `m${n}`),
})
const step = fc.oneof(
  { weight: 4, arbitrary: place.map(where => ({ does: 'add' as const, where })) },
  { weight: 1, arbitrary: fc.constant({ does: 'take' as const }) },
  { weight: 1, arbitrary: fc.nat(200).map(which => ({ does: 'remove' as const, which })) },
)

describe('whatever happens to a fair queue', () => {
  test('its bounds hold, and every item leaves exactly once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const queue = new FairQueue<Item>(LIMITS)
        const waiting: Item[] = []
        const leave = (gone: Item | undefined) => {
          if (gone === undefined) return
          const at = waiting.indexOf(gone)
          expect(at).toBeGreaterThanOrEqual(0)
          waiting.splice(at, 1)
        }
        for (const each of steps) {
          if (each.does === 'take') leave(queue.take())
          else if (each.does === 'remove') {
            const chosen = waiting[each.which % (waiting.length || 1)]
            if (chosen === undefined) continue
            expect(queue.remove(chosen, chosen)).toBe(true)
            expect(queue.remove(chosen, chosen)).toBe(false)
            leave(chosen)
          } else {
            const added = item(each.where.group, each.where.member)
            const result = queue.add(added, added)
            if (result.outcome === 'full') continue
            leave(result.displaced)
            waiting.push(added)
          }
          expect(queue.size).toBe(waiting.length)
          expect(waiting.length).toBeLessThanOrEqual(LIMITS.total)
          for (const items of Map.groupBy(waiting, ({ group }) => group).values())
            expect(items.length).toBeLessThanOrEqual(LIMITS.perGroup)
          for (const items of Map.groupBy(waiting, ({ group, member }) => `${group} ${member}`).values())
            expect(items.length).toBeLessThanOrEqual(LIMITS.perMember)
        }
        expect(new Set(drain(queue))).toEqual(new Set(waiting))
        expect(queue.size).toBe(0)
      }),
    )
  })

  test('groups that always wait are served equally, and so are the members of each', () => {
    const flood = fc.array(place, { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(flood, fc.integer({ min: 1, max: 60 }), (places, rounds) => {
        const queue = new FairQueue<Item>({ perMember: 2, perGroup: 1000, total: 1000 })
        const served: Item[] = []
        for (let n = 0; n < rounds; n++) {
          for (const { group, member } of places) add(queue, group, member)
          const next = queue.take()
          if (next !== undefined) served.push(next)
        }
        const spread = (names: readonly string[], all: readonly string[]) => {
          const counts = [...new Set(all)].map(name => names.filter(each => each === name).length)
          return Math.max(...counts) - Math.min(...counts)
        }
        expect(
          spread(
            served.map(({ group }) => group),
            places.map(({ group }) => group),
          ),
        ).toBeLessThanOrEqual(1)
        for (const [group, items] of Map.groupBy(served, each => each.group)) {
          const members = places.filter(each => each.group === group).map(({ member }) => member)
          expect(
            spread(
              items.map(({ member }) => member),
              members,
            ),
          ).toBeLessThanOrEqual(1)
        }
      }),
    )
  })

  test('one group can neither keep out a newcomer nor delay it by more than one item', () => {
    const flood = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 })
    fc.assert(
      fc.property(flood, flood, (before, after) => {
        const queue = new FairQueue<Item>(LIMITS)
        for (const member of before) add(queue, 'attacker', `m${member}`)
        const { added, outcome } = add(queue, 'newcomer')
        expect(outcome).toBe('added')
        for (const member of after) add(queue, 'attacker', `m${member}`)
        expect([queue.take(), queue.take()]).toContain(added)
      }),
    )
  })
})
