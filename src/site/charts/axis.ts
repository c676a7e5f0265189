/** The ticks of a chart's axis. */

/** More would lie too close to each other at the height of our charts. */
const MAX_STEPS = 4

/**
 * From 0 to the first tick that is no less than the highest value, and never less than 1. A step is 1, 2 or 5 times a power of
 * ten: people read no others at a glance. Counts have whole steps.
 */
export function axisTicks(highest: number, isCount: boolean): number[] {
  const top = Math.max(1, highest)
  const power = 10 ** Math.floor(Math.log10(top / MAX_STEPS))
  const fits = [1, 2, 5, 10].map(times => times * power).find(step => top / step <= MAX_STEPS) ?? 10 * power
  const step = isCount ? Math.max(1, fits) : fits
  // A product of fractions may be a little beside the number that is meant.
  return Array.from({ length: Math.ceil(top / step) + 1 }, (_, index) =>
    Number((index * step).toPrecision(6)),
  )
}
