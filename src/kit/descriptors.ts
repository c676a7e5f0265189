/** The file descriptors of this process: files, connections, and whatever else it has open. Told by Linux alone. */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** How many there may be. The runtime raises the soft limit to the hard one when it starts. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft = ''] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === '' ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** How many there are; undefined where that is not told, or where there is none left to ask with. */
export function openDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

/**
 * The number that the next descriptor would get, which is always the lowest that is free: at least so many are in use. This
 * costs next to nothing however many there are. Infinity if there is none left.
 */
export function nextDescriptor(): number {
  try {
    const descriptor = openSync('/dev/null', 'r')
    closeSync(descriptor)
    return descriptor
  } catch (error) {
    const isShort = /^E[MN]FILE$/.test(String((error as { code?: string }).code))
    // Where there is no such device, nothing can be said.
    return isShort ? Number.POSITIVE_INFINITY : 0
  }
}
