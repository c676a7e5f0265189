/** The ticks of the axes of a chart: of its values, and of its times. */

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

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]

/** Steps of a clock that people read at a glance, in seconds. */
const TIME_STEPS = [
  5,
  10,
  15,
  30,
  ...[1, 2, 5, 10, 15, 30].map(each => each * MINUTE),
  ...[1, 2, 3, 6, 12].map(each => each * HOUR),
  DAY,
]

/** Times at whole steps, as many as there may be. In seconds since 1970. */
export function timeTicks(from: number, to: number, most: number): number[] {
  const step = TIME_STEPS.find(each => (to - from) / each <= Math.max(1, most)) ?? DAY
  const first = Math.ceil(from / step) * step
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_, index) => first + index * step,
  )
}
