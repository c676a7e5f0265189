/** The file descriptors of this process (files, connections and others). Only known on Linux. */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** The limit. The runtime raises the soft limit to the hard limit when it starts. */
export function descriptorLimit(): number | undefined {
  try {
    const [, soft = ''] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === '' ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** The number of open descriptors; undefined if unknown, or if no descriptor is left to read it with. */
export function openDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

/**
 * The number of the next descriptor, which is always the lowest free one: at least that many are in use. The cost does not
 * depend on the number of open descriptors. Infinity if none is left.
 */
export function nextDescriptor(): number {
  try {
    const descriptor = openSync('/dev/null', 'r')
    closeSync(descriptor)
    return descriptor
  } catch (error) {
    const isShort = /^E[MN]FILE$/.test(String((error as { code?: string }).code))
    // Without this device, the number is unknown.
    return isShort ? Number.POSITIVE_INFINITY : 0
  }
}
