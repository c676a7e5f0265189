/** What Linux reports about a process from outside. Nothing here asks the process itself. */
import { readFileSync } from 'node:fs'

/** Linux counts processor time for programs in hundredths of a second. */
const TICKS_PER_SECOND = 100

/** All that is resident, and the part of it that is not pages of mapped files, in MB. */
export function memoryOf(pid: number): { resident: number; own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { resident: megabytes('VmRSS'), own: megabytes('RssAnon') }
}

/** Processor time of all threads since the process began, in the program and in the system for it. */
export function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name in parentheses and may hold anything; the numbered ones continue behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [inProgram, inSystem] = [Number(fields[14 - 3]), Number(fields[15 - 3])]
  return (inProgram + inSystem) / TICKS_PER_SECOND
}
