import { describe, expect, test } from 'bun:test'
import { chooseStandby, hasReached, type StandbyState } from '../../src/store/engines/standby-choice.ts'

const NOW = 10_000

const standby = (changes: Partial<StandbyState> = {}): StandbyState => ({
  isStandby: true,
  replayed: 100n,
  awaited: -1n,
  restsUntil: Number.NEGATIVE_INFINITY,
  running: 0,
  ...changes,
})

describe('which standby gets a read', () => {
  test('the least busy one, the first of several', () => {
    const [busy, idle, other] = [standby({ running: 3 }), standby({ running: 1 }), standby({ running: 1 })]
    expect(chooseStandby([busy, idle, other], NOW)).toBe(idle)
  })

  test.each([
    ['that is the primary, or did not answer its last probe', standby({ isStandby: false })],
    ['that failed a moment ago', standby({ restsUntil: NOW + 1 })],
    ['that has not replayed what a read waited for in vain', standby({ awaited: 101n })],
  ])('none %s', (_, unusable) => {
    const idle = standby({ running: 1 })
    expect(chooseStandby([unusable], NOW)).toBeUndefined()
    expect(chooseStandby([unusable, idle], NOW)).toBe(idle)
  })

  test('one that has rested and caught up', () => {
    const recovered = standby({ restsUntil: NOW, awaited: 100n })
    expect(chooseStandby([recovered], NOW)).toBe(recovered)
  })

  test('none of none', () => {
    expect(chooseStandby([], NOW)).toBeUndefined()
  })
})

describe('whether a standby has everything up to a position', () => {
  const wanted = { lsn: 2n ** 60n, mark: '00000001/a' }

  test.each([
    ['it has replayed exactly that', { lsn: 2n ** 60n }, true],
    ['it has replayed more', { lsn: 2n ** 60n + 1n }, true],
    ['a byte is missing', { lsn: 2n ** 60n - 1n }, false],
    ['it has replayed more, of the log of another primary', { lsn: 2n ** 61n, mark: '00000001/b' }, false],
    ['it has no mark', { lsn: 2n ** 61n, mark: '' }, false],
  ])('%s: %p', (_, replayed, expected) => {
    expect(hasReached({ ...wanted, ...replayed }, wanted)).toBe(expected)
  })
})
