/** Times as pages show them. */
export const day = (iso: string): string => iso.slice(0, 10)
export const minute = (iso: string): string => `${day(iso)} ${iso.slice(11, 16)} UTC`

/** `5h 42m`: how long ago a stream started. */
export function uptime(started_at: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(started_at)) / 60_000))
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}
