import { describe, expect, test } from 'bun:test'
import { ByteProgress } from '../../src/cli/terminal/byte-progress.ts'
import { formatDuration, Progress } from '../../src/cli/terminal/progress.ts'

function screen(isTTY: boolean) {
  let text = ''
  let now = 0
  return {
    out: { isTTY, columns: 130, write: (more: string) => (text += more) },
    now: () => now,
    pass: (milliseconds: number) => (now += milliseconds),
    get text() {
      return text
    },
  }
}

describe('progress', () => {
  test('shows how far, how fast and how long still', () => {
    const seen = screen(true)
    const progress = new Progress('Importing', { unit: 'lines', total: 1000, out: seen.out, now: seen.now })
    seen.pass(2000)
    progress.reach(250)
    expect(seen.text).toContain('[######..................]  25 %  250 of 1,000 lines  125 lines/s  6 s left')
    progress.end()
    expect(seen.text.endsWith('\n')).toBe(true)
  })

  test('counts from when the work began, where that was before its size was known', () => {
    const seen = screen(true)
    seen.pass(2000)
    const progress = new Progress('Importing', { unit: 'lines', out: seen.out, now: seen.now, began: 0 })
    progress.reach(250)
    expect(seen.text).toContain('250 lines  125 lines/s')
  })

  test('prints nothing where it is not a terminal', () => {
    const seen = screen(false)
    const progress = new Progress('Importing', { unit: 'lines', total: 10, out: seen.out, now: seen.now })
    progress.reach(5)
    progress.end()
    expect(seen.text).toBe('')
  })

  test('counts where the end is not known, and redraws ten times a second at most', () => {
    const seen = screen(true)
    const progress = new Progress('Exporting', { unit: 'lines', out: seen.out, now: seen.now })
    seen.pass(1000)
    progress.reach(2000)
    progress.reach(3000)
    expect(seen.text).toBe('\r\x1b[KExporting  2,000 lines  2,000 lines/s')
  })

  test('counts bytes in a unit of which there is at least one, whether the total is known or not', () => {
    const reached = (bytes: number, total?: number) => {
      const seen = screen(true)
      const progress = new ByteProgress('Sending', seen)
      seen.pass(1000)
      progress.reach(bytes, total)
      progress.end()
      return seen.text
    }
    expect(reached(300, 300)).toContain('100 %  300 of 300 bytes')
    expect(reached(4300, 8600)).toContain('4 of 9 kB')
    expect(reached(8600, 8600)).toContain('100 %  9 of 9 kB')
    expect(reached(4_000_000, 8_000_000)).toContain('4 of 8 MB')
    expect(reached(8600)).toEndWith('\r\x1b[KSending  9 kB  9 kB/s\n')
    expect(reached(8_600_000)).toEndWith('\r\x1b[KSending  9 MB  9 MB/s\n')
  })

  test('writes durations for people', () => {
    expect([0.2, 59, 200, 3900].map(formatDuration)).toEqual(['1 s', '59 s', '3 min 20 s', '1 h 05 min'])
  })
})
