import { parseArgs } from 'node:util'
import type { Fault, Pace, Trial } from './faults/fault.ts'
import { faults, quickFaults } from './faults/index.ts'
import type { Hosts } from './stage.ts'

export const USAGE = `npm run rig -- [flags]
  --quick          a small world, short faults, ${quickFaults.length} of them: under three minutes
  --only <fault>   run only this fault; repeatable:
                   ${faults.map(each => `${each.name.padEnd(16)} ${each.what}`).join('\n                   ')}
  --safety         judge safety only, and report times without judging them: for machines with other load
  --seconds <n>    length of a fault with a duration; default: 20
  --rounds <n>     repetitions of a fault without a duration; default: 5
  --streams <n>    live streams; default: 500
  --requests <n>   requests of openapi-fuzz, half of them to each engine; default: 40000
  --seed <n>       seed of power-loss and openapi-fuzz; default: random
  --one-host       give each node one address that leads to the primary, instead of all three
  --keep           keep the folder with the logs and data of all servers
  --write          write the report to rig/README.md; needs all faults`

export interface Plan {
  readonly chosen: readonly (Fault | Trial)[]
  readonly pace: Pace
  readonly streams: number
  readonly hosts: Hosts
  readonly safety: boolean
  readonly keep: boolean
  readonly write: boolean
}

/** Reads the flags. Throws an error that explains what is wrong. */
export function readPlan(words: readonly string[]): Plan | 'help' {
  const { values: flags } = parseArgs({
    args: [...words],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      safety: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      streams: { type: 'string' },
      requests: { type: 'string' },
      seed: { type: 'string' },
      'one-host': { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (flags.help) return 'help'
  const { quick, only } = flags
  const unknown = only.filter(name => !faults.some(each => each.name === name))
  if (unknown.length > 0) throw new Error(`unknown --only: ${unknown.join(', ')}`)
  if (flags.write && (quick || only.length > 0 || flags.safety))
    throw new Error('--write needs all faults and all goals')
  const number = (
    name: 'seconds' | 'rounds' | 'streams' | 'requests' | 'seed',
    standard: number,
    least: number,
  ): number => {
    const value = Number(flags[name] ?? standard)
    if (!Number.isInteger(value) || value < least)
      throw new Error(`--${name} must be a whole number of at least ${least}`)
    return value
  }
  return {
    chosen: only.length > 0 ? faults.filter(each => only.includes(each.name)) : quick ? quickFaults : faults,
    pace: {
      name: quick ? 'quick' : 'usual',
      seconds: number('seconds', quick ? 5 : 20, 1),
      rounds: number('rounds', quick ? 1 : 5, 1),
      requests: number('requests', quick ? 4000 : 40_000, 1),
      seed: number('seed', Math.floor(Math.random() * 1_000_000), 0),
    },
    streams: number('streams', quick ? 150 : 500, 100),
    hosts: flags['one-host'] ? 'one' : 'all',
    safety: flags.safety,
    keep: flags.keep,
    write: flags.write,
  }
}
