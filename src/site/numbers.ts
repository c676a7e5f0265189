/** Numbers as pages show them. */

/** `9.8K`, `21K`: at a glance. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count)
  const [value, unit] = count < 999_500 ? [count / 1000, 'K'] : [count / 1_000_000, 'M']
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`
}

/** `5h 42m`: how long ago a stream started. */
export function uptime(started_at: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(started_at)) / 60_000))
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

/** `1 view`, `1,234 views`. */
export const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
