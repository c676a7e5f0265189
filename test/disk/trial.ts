/**
 * A server with an embedded store on a disk that can be made to fail, under a load whose every answer is written down. What
 * was seen is held against the rules by the judge of the rig: what was acknowledged is there, also after the process was
 * killed, batches are whole, and reads go forward.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge } from '../../rig/judge/judge.ts'
import type { Operation } from '../../rig/judge/operation.ts'
import { type Asked, Caller } from '../../rig/load/caller.ts'
import { readGroup, updateGroup } from '../../rig/load/entitlement-load.ts'
import { type EntitlementGroup, grantGroups, makeWorld, type World } from '../../rig/world.ts'
import { FailingDisk } from '../support/cli/failing-disk.ts'
import { type Environment, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-this-test'
const STREAMS = 10
const GROUPS = 4
/** The judge needs an answer every now and then, not as many as the server can give. */
const REST_MILLISECONDS = 20
/** What takes longer than this hangs, however busy the machine is. */
export const HANG_MILLISECONDS = 15_000
const TRIES_AT_LAST = 100

/** A look at /readyz. */
interface Look {
  readonly at: number
  readonly isReady: boolean
}

export interface TrialOptions {
  /** The root of other sources than these. */
  readonly program?: string
  /** More settings. */
  readonly environment?: Environment
  /** Of a PostgreSQL in place of the embedded store. */
  readonly databaseUrl?: string | undefined
}

export class DiskTrial {
  /** Where the store is. */
  readonly data: string
  readonly caller: Caller
  readonly looks: Look[] = []
  readonly url: string
  readonly #folder: string
  readonly #disk: FailingDisk | undefined
  readonly #options: TrialOptions
  #process: StrandProcess | undefined
  #world: World | undefined
  #groups: readonly EntitlementGroup[] = []
  readonly #operations: Operation[] = []
  #load: Promise<unknown> | undefined
  #ending = false

  private constructor(folder: string, port: number, disk: FailingDisk | undefined, options: TrialOptions) {
    this.#folder = folder
    this.data = join(folder, 'data')
    this.url = `http://127.0.0.1:${port}`
    this.caller = new Caller(this.url)
    this.#disk = disk
    this.#options = options
  }

  /** Starts a server and makes a small world in it. */
  static async begin(options: TrialOptions): Promise<DiskTrial> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'strand-trial-')))
    const disk = await FailingDisk.make(join(folder, 'data'))
    const trial = new DiskTrial(folder, await freePort(), disk, options)
    await trial.start()
    trial.#world = await makeWorld(trial.caller, trial.url, OPERATOR_TOKEN, STREAMS)
    trial.#groups = await grantGroups(trial.caller, trial.world, GROUPS)
    return trial
  }

  get disk(): FailingDisk {
    if (this.#disk === undefined) throw new Error('the disk cannot be made to fail here')
    return this.#disk
  }

  get world(): World {
    if (this.#world === undefined) throw new Error('the world is not made yet')
    return this.#world
  }

  get groups(): readonly EntitlementGroup[] {
    return this.#groups
  }

  /** Everything that the process which runs now has logged. */
  get log(): string {
    return this.#process?.stderr ?? ''
  }

  async start(): Promise<void> {
    const words = ['serve', '--listen', new URL(this.url).host, '--data', this.data]
    const { program, databaseUrl } = this.#options
    this.#process = new StrandProcess(words, {
      ...(program !== undefined && { command: [process.execPath, join(program, 'src', 'main.ts')] }),
      environment: {
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...this.#disk?.environment,
        STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
        STRAND_RATE_APP: '0',
        STRAND_RATE_ANONYMOUS: '0',
        ...this.#options.environment,
      },
    })
    await this.#process.serving()
  }

  /** The exit code; undefined if it did not end in time, and was killed. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | undefined> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined) return 0
    const code = await Promise.race([running.end(signal), Bun.sleep(HANG_MILLISECONDS)])
    if (code === undefined) await running.end('SIGKILL')
    return code ?? undefined
  }

  /** Writers and readers for every group, and one that reads /readyz. */
  beginLoad(): void {
    const repeat = async (work: () => Promise<void>) => {
      while (!this.#ending) {
        await work()
        await Bun.sleep(REST_MILLISECONDS * 2 * Math.random())
      }
    }
    let turns = 0
    const all = this.#groups.flatMap(group => [
      repeat(async () => {
        const status = turns++ % 2 === 0 ? 'FULFILLED' : 'CLAIMED'
        const write = { process: `writer of ${group.key}`, status }
        this.#operations.push(await updateGroup(this.caller, this.world, group, write))
      }),
      repeat(async () => {
        this.#operations.push(await readGroup(this.caller, this.world, group, `reader of ${group.key}`))
      }),
    ])
    this.#load = Promise.all([...all, repeat(() => this.#look())])
  }

  /** Ends the load, kills the server, starts it again and looks at everything once more. Gives what is wrong. */
  async endLoad(): Promise<string[]> {
    this.#ending = true
    await this.#load
    await this.#readAtLast()
    await this.stop('SIGKILL')
    await this.start()
    await this.#readAtLast()
    const { impossible, torn, backward } = judge(this.#operations, this.#groups)
    return [
      ...impossible.map(sentence => `no order explains ${sentence}`),
      ...(torn > 0 ? [`${torn} reads show half a batch`] : []),
      ...(backward > 0 ? [`${backward} reads go backward`] : []),
    ]
  }

  /** Waits for something; false if it does not come. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
    const deadline = performance.now() + HANG_MILLISECONDS
    while (!(await isSo())) {
      if (performance.now() > deadline) return false
      await Bun.sleep(REST_MILLISECONDS)
    }
    return true
  }

  /** Answers to requests that were sent after a point in time. */
  askedSince(at: number, work: Asked['work']): Asked[] {
    return this.caller.asked.filter(each => each.work === work && each.invoked >= at)
  }

  async isReady(): Promise<boolean> {
    return (await this.caller.ask('looking', 'GET', '/readyz')).status === 200
  }

  async remove(): Promise<void> {
    this.#ending = true
    this.#disk?.remove()
    await this.stop('SIGKILL')
    await this.#load?.catch(() => undefined)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #look(): Promise<void> {
    const at = performance.now()
    this.looks.push({ at, isReady: await this.isReady() })
  }

  async #readAtLast(): Promise<void> {
    for (const group of this.#groups) {
      for (let attempt = 1; ; attempt++) {
        const operation = await readGroup(this.caller, this.world, group, `last look at ${group.key}`)
        if (operation.outcome === 'ok' || attempt === TRIES_AT_LAST) {
          this.#operations.push(operation)
          break
        }
        await Bun.sleep(100)
      }
    }
  }
}
