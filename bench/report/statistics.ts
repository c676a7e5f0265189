export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export interface Trend {
  readonly slope: number
  /** How much of what moves the line explains: near 0 it is noise around a constant, near 1 a steady rise or fall. */
  readonly rSquared: number
}

/** The straight line with the least squares of distances. */
export function trendOf(points: readonly (readonly [x: number, y: number])[]): Trend {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  let [xx, xy, yy] = [0, 0, 0]
  for (const [x, y] of points) {
    xx += (x - meanX) ** 2
    xy += (x - meanX) * (y - meanY)
    yy += (y - meanY) ** 2
  }
  return { slope: xy / xx, rSquared: yy === 0 ? 0 : xy ** 2 / (xx * yy) }
}
