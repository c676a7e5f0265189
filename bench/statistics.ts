/** The value that this share of the others does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** What rounds gave: their median, and the ends of the middle half of them. */
export const ofRounds = (values: readonly number[]) => {
  return { value: median(values), spread: [quantile(values, 0.25), quantile(values, 0.75)] as const }
}
