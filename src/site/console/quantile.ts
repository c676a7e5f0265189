/** A quantile of a histogram: cumulative counts by upper limit. Within a bucket, values are assumed to be spread evenly. */
export function quantile(upTo: ReadonlyMap<number, number>, share: number): number {
  const limits = [...upTo.keys()].sort((one, other) => one - other)
  const total = upTo.get(Number.POSITIVE_INFINITY) ?? 0
  if (total === 0) return 0
  const rank = share * total
  let [lower, below] = [0, 0]
  for (const limit of limits) {
    const count = upTo.get(limit) ?? 0
    if (count >= rank && count > below)
      return Number.isFinite(limit) ? lower + ((limit - lower) * (rank - below)) / (count - below) : lower
    if (Number.isFinite(limit)) lower = limit
    below = count
  }
  return lower
}
