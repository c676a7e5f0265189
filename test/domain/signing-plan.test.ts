import { expect, test } from 'bun:test'
import { signingPlan } from '../../src/domain/oauth/signing-plan.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const START = Date.parse('2026-01-01T00:00:00.000Z')
const key = (name: string, madeAfter: number, canSign = true) => ({
  name,
  canSign,
  created_at: new Date(START + madeAfter).toISOString(),
})
const plan = (keys: ReturnType<typeof key>[], after: number) => {
  const { signer, published, isNextDue } = signingPlan(keys, START + after)
  return { signer: signer?.name, published: published.map(each => each.name), isNextDue }
}

test('without a key, one is due', () => {
  expect(plan([], 0)).toEqual({ signer: undefined, published: [], isNextDue: true })
})

test('the first key signs at once, for 90 days', () => {
  const first = key('first', 0)
  expect(plan([first], 0)).toEqual({ signer: 'first', published: ['first'], isNextDue: false })
  expect(plan([first], 90 * DAY - 1).isNextDue).toBe(false)
  expect(plan([first], 90 * DAY)).toEqual({ signer: 'first', published: ['first'], isNextDue: true })
})

test('the next key is published before it signs, and the one before for a day after', () => {
  const keys = [key('second', 90 * DAY), key('first', 0)]
  const both = ['second', 'first']
  const at = (after: number) => plan(keys, 90 * DAY + after)
  expect(at(0)).toEqual({ signer: 'first', published: both, isNextDue: false })
  expect(at(15 * MINUTE - 1).signer).toBe('first')
  expect(at(15 * MINUTE)).toEqual({ signer: 'second', published: both, isNextDue: false })
  expect(at(15 * MINUTE + DAY - 1).published).toEqual(both)
  expect(at(15 * MINUTE + DAY).published).toEqual(['second'])
})

test('a key whose master key is gone verifies and does not sign', () => {
  const lost = key('lost', 0, false)
  expect(plan([lost], DAY)).toEqual({ signer: undefined, published: ['lost'], isNextDue: true })
  const keys = [key('fresh', DAY), lost]
  expect(plan(keys, DAY)).toEqual({ signer: 'fresh', published: ['fresh', 'lost'], isNextDue: false })
})

test('a key that signs is published, whatever comes after it', () => {
  const keys = [key('unreadable', 5 * DAY, false), key('first', 0)]
  expect(plan(keys, 50 * DAY)).toMatchObject({ signer: 'first', published: ['unreadable', 'first'] })
})
