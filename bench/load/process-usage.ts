/** What Linux tells of a process from outside. Nothing here asks the process itself. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time for programs in hundredths of a second, whatever its own clock does. */
const TICKS_PER_SECOND = 100

export interface MemoryUse {
  /** All that is resident, in MB. */
  readonly resident: number
  /** The part of it that is the process's own and not pages of mapped files, in MB. */
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
  // The second field is the name in parentheses and may hold anything; the numbered ones go on behind it with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [inProgram, inSystem] = [Number(fields[14 - 3]), Number(fields[15 - 3])]
  return (inProgram + inSystem) / TICKS_PER_SECOND
}

export function openFilesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

const LOOK_MILLISECONDS = 100

/** Looks at a process ten times a second and remembers the most. */
export class PeakMemory {
  readonly #pid: number
  readonly #timer: Timer
  #peak: MemoryUse = { resident: 0, own: 0 }
  #processorSeconds = 0

  constructor(pid: number) {
    this.#pid = pid
    this.#timer = setInterval(() => this.#look(), LOOK_MILLISECONDS)
  }

  /** Up to the last look. */
  get processorSeconds(): number {
    return this.#processorSeconds
  }

  end(): MemoryUse {
    clearInterval(this.#timer)
    return this.#peak
  }

  #look(): void {
    try {
      const { resident, own } = memoryOf(this.#pid)
      this.#peak = {
        resident: Math.max(this.#peak.resident, resident || 0),
        own: Math.max(this.#peak.own, own || 0),
      }
      this.#processorSeconds = processorSecondsOf(this.#pid)
    } catch {
      // It has ended.
    }
  }
}
