/** Numbers and results as text. */
import type { Result } from './bench.ts'

export const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
export const whole = (value: number) => Math.round(value).toLocaleString('en-US')

/** Ratios and short times with two digits, the rest as whole numbers. */
export const shown = ({ value }: Result) => (Math.abs(value) < 10 ? value.toFixed(2) : whole(value))

export function goalOf({ atLeast, atMost }: Result): string {
  if (atLeast !== undefined) return `>= ${atLeast.toLocaleString('en-US')}`
  return atMost === undefined ? '' : `<= ${atMost.toLocaleString('en-US')}`
}

export function isReached({ value, atLeast = -Infinity, atMost = Infinity }: Result): boolean {
  return value >= atLeast && value <= atMost
}
