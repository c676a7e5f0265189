/** What Linux reports about a process from outside. Nothing here asks the process itself. */
import { readFileSync } from 'node:fs'

/** Linux counts processor time for programs in hundredths of a second. */
const TICKS_PER_SECOND = 100
const LOOK_MILLISECONDS = 100

export interface MemoryUse {
  /** All that is resident, in MB. */
  readonly resident: number
  /** The part of it that is not pages of mapped files, in MB. */
  readonly own: number
}

export function memoryOf(pid: number): MemoryUse {
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

/** Looks at a process ten times a second and remembers the most. */
export class PeakMemory {
  readonly #timer: Timer
  #peak: MemoryUse = { resident: 0, own: 0 }

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#look(pid), LOOK_MILLISECONDS)
  }

  end(): MemoryUse {
    clearInterval(this.#timer)
    return this.#peak
  }

  #look(pid: number): void {
    try {
      const { resident, own } = memoryOf(pid)
      this.#peak = {
        resident: Math.max(this.#peak.resident, resident || 0),
        own: Math.max(this.#peak.own, own || 0),
      }
    } catch {
      // It has ended.
    }
  }
}
