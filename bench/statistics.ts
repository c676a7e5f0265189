/** The value that this share of the others does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** What rounds gave: their median, the lowest and the highest. */
export const ofRounds = (values: readonly number[]) => {
  return { value: median(values), spread: [Math.min(...values), Math.max(...values)] as const }
}
