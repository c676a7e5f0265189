/** Worlds and servers, each made when a measurement first asks for it and closed when none needs it any more. */
import { constants, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lazily } from '../../src/kit/lazily.ts'
import type { Children } from '../load/children.ts'
import { growthSizes, type Inhabited } from '../measures/growth.ts'
import type { Ground } from '../measures/measure.ts'
import type { Pace } from '../measures/rounds.ts'
import { output } from '../report/progress.ts'
import { type BenchWorld, makeWorld, type WorldSize } from './world.ts'

export class Stage {
  readonly children: Children
  readonly #root: string
  readonly #size: WorldSize
  readonly #pace: Pace
  #grounded = false

  constructor(children: Children, root: string, size: WorldSize, pace: Pace) {
    this.children = children
    this.#root = root
    this.#size = size
    this.#pace = pace
  }

  folder(name: string): string {
    const made = join(this.#root, name)
    mkdirSync(made, { recursive: true })
    return made
  }

  /** The world of the size that was asked for. */
  readonly world = lazily(() => this.#makeWorld(this.#size))

  /** That world with its server, where nearly everything is measured. */
  readonly ground = lazily(async (): Promise<Ground> => {
    const world = await this.world()
    const loopFile = join(this.folder('loop'), 'strand.db')
    // Before the server has it: the loops begin with the world as it was made.
    copyFileSync(world.storeFile, loopFile, constants.COPYFILE_FICLONE)
    const strand = await this.children.startStrand(world.folder, world.secrets)
    this.#grounded = true
    return {
      children: this.children,
      folder: this.folder('scratch'),
      world,
      strand,
      loopFile,
      pace: this.#pace,
    }
  })

  /** All sizes, each with a server that has just been started: one that has worked for minutes is not like a fresh one. */
  readonly sizes = lazily(async (): Promise<readonly Inhabited[]> => {
    if (this.#grounded) await (await this.ground()).strand.stop()
    const worlds: BenchWorld[] = []
    for (const size of growthSizes(this.#size)) {
      worlds.push(size === this.#size ? await this.world() : await this.#makeWorld(size))
    }
    return Promise.all(
      worlds.map(async world => ({
        world,
        strand: await this.children.startStrand(world.folder, world.secrets),
      })),
    )
  })

  async closeSizes(): Promise<void> {
    for (const { strand } of await this.sizes()) await strand.stop()
  }

  #makeWorld(size: WorldSize): Promise<BenchWorld> {
    const folder = this.folder(`world-${size.streams}`)
    return makeWorld(folder, size, progress => output(`world: ${progress}`))
  }
}
