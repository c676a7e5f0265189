import type { Children } from '../load/children.ts'
import { memoryOf } from '../load/process-usage.ts'
import type { Single } from '../report/metrics.ts'
import { median } from '../report/statistics.ts'
import type { Secrets } from '../world/world.ts'

const STARTS = 3
const SETTLE_MILLISECONDS = 1500
export const SECONDS_OF_STARTS = STARTS * 4

/** A number of starts: the time to the first response, and the memory shortly after. */
export async function measureStarts(
  children: Children,
  folderOf: (start: number) => string,
  secrets: Secrets | undefined,
  words: { name: string; atMost: { milliseconds: number; resident: number } },
): Promise<Single[]> {
  const times: number[] = []
  const resident: number[] = []
  const own: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const strand = await children.startStrand(folderOf(start), secrets)
    times.push(strand.milliseconds)
    await Bun.sleep(SETTLE_MILLISECONDS)
    const memory = memoryOf(strand.pid)
    resident.push(memory.resident)
    own.push(memory.own)
    await strand.stop()
  }
  const { name, atMost } = words
  return [
    {
      name: `Start to first response, ${name}`,
      value: median(times),
      unit: 'ms',
      atMost: atMost.milliseconds,
    },
    { name: `Resident memory, idle, ${name}`, value: median(resident), unit: 'MB', atMost: atMost.resident },
    { name: `of which private, without mapped files, ${name}`, value: median(own), unit: 'MB' },
  ]
}
