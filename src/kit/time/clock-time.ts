/** `1:02:03` or `4:04`: how long something has lasted, or where in it one is. Also runs in a browser. */
export function clockTime(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const padded = (part: number) => String(Math.floor(part)).padStart(2, '0')
  return `${hours > 0 ? `${hours}:${padded(minutes)}` : minutes}:${padded(seconds % 60)}`
}
