import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  JUMP_MILLISECONDS,
  jumpBetween,
  type SettledTime,
  settledTime,
  settleTime,
} from '../../src/domain/settled-time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.parse('2026-03-01T12:00:00.000Z')

/** A server that looks at its clock every so often. */
class Looker {
  now = START
  state: SettledTime = settleTime(undefined, { now: START, passed: 0 }, DAY)

  /** Time passes, and the clock moves by that and a jump. */
  look(passed = MINUTE, jump = 0) {
    this.now += passed + jump
    const before = this.state
    this.state = settleTime(before, { now: this.now, passed }, DAY)
    const settled = settledTime(this.state)
    return {
      settled,
      noticed: jumpBetween(before, this.state),
      isSettling: this.state.leads.length > 1,
      behind: this.now - settled,
    }
  }

  run(milliseconds: number) {
    let last = this.look()
    for (let ran = MINUTE; ran < milliseconds; ran += MINUTE) last = this.look()
    return last
  }

  /** Nothing runs meanwhile, and how long is unknown. */
  off(milliseconds: number) {
    return this.look(0, milliseconds)
  }
}

describe('the settled time', () => {
  test('is that of a clock that runs steadily', () => {
    const looker = new Looker()
    expect(looker.run(2 * HOUR)).toMatchObject({ behind: 0, isSettling: false, noticed: undefined })
  })

  test('continues at its pace when the clock is two months ahead for a minute, as if nothing had been', () => {
    const looker = new Looker()
    const jumped = looker.look(MINUTE, 60 * DAY)
    expect(jumped).toMatchObject({ settled: START + MINUTE, noticed: 60 * DAY, behind: 60 * DAY })
    const back = looker.look(MINUTE, -60 * DAY)
    expect(back).toMatchObject({ settled: START + 2 * MINUTE, noticed: -60 * DAY, behind: 0 })
    expect(back.isSettling).toBe(false)
  })

  test('follows a clock that is set back at once, and does not trust it when it is set forward again', () => {
    const looker = new Looker()
    expect(looker.look(MINUTE, -5 * HOUR)).toMatchObject({ behind: 0, noticed: -5 * HOUR })
    expect(looker.run(HOUR).behind).toBe(0)
    expect(looker.look(MINUTE, 5 * HOUR).behind).toBe(5 * HOUR)
  })

  test('catches up when a machine that was off for a month has run for a day', () => {
    const looker = new Looker()
    expect(looker.off(30 * DAY).behind).toBe(30 * DAY)
    expect(looker.run(DAY - MINUTE).behind).toBe(30 * DAY)
    expect(looker.run(MINUTE)).toMatchObject({ behind: 0, isSettling: false })
  })

  test('a short downtime is no jump', () => {
    const looker = new Looker()
    expect(looker.off(JUMP_MILLISECONDS)).toMatchObject({ behind: 0, noticed: undefined })
  })

  test('a machine that is off every night stays some days behind, not more and more', () => {
    const looker = new Looker()
    let worst = 0
    for (let day = 0; day < 60; day++)
      worst = Math.max(worst, looker.run(8 * HOUR).behind, looker.off(16 * HOUR).behind)
    expect(worst).toBeLessThan(5 * DAY)
  })

  test('a clock that jumps again while it settles has to run steadily from there', () => {
    const looker = new Looker()
    looker.look(MINUTE, 60 * DAY)
    looker.run(DAY - HOUR)
    looker.look(MINUTE, 300 * DAY)
    // The first jump has settled by now; the second has not.
    expect(looker.run(2 * HOUR).behind).toBe(300 * DAY)
    looker.look(MINUTE, -330 * DAY)
    expect(looker.run(HOUR).behind).toBe(0)
  })

  test('a machine that runs for a minute at a time keeps a bounded state, and is not trusted earlier', () => {
    const looker = new Looker()
    for (let start = 0; start < 1000; start++) {
      looker.off(30 * MINUTE)
      looker.look()
    }
    expect(looker.state.leads.length).toBeLessThanOrEqual(100)
    expect(looker.look().settled).toBeLessThan(START + 1002 * MINUTE)
    expect(looker.run(2 * DAY)).toMatchObject({ behind: 0, isSettling: false })
  })

  test('is never ahead of the clock, and gains no more than a jump on the time that passed within a settling period', () => {
    const steps = fc.array(
      fc.record({
        passed: fc.integer({ min: 1, max: 2 * HOUR }),
        jump: fc.oneof(fc.constant(0), fc.integer({ min: -90 * DAY, max: 90 * DAY })),
      }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(steps, taken => {
        const looker = new Looker()
        let ran = 0
        for (const { passed, jump } of taken) {
          ran += passed
          if (ran >= DAY) return
          const { settled } = looker.look(passed, jump)
          expect(settled).toBeLessThanOrEqual(looker.now)
          expect(settled).toBeLessThanOrEqual(START + ran + taken.length * JUMP_MILLISECONDS)
        }
      }),
    )
  })
})
