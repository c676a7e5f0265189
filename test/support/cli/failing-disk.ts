/** The test's end of `failing-disk.c`: a disk below a server that fails and heals while the server runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { compilePreload, NoPreload } from '../../../tools/preload.ts'
import type { Environment } from './strand-process.ts'

const SOURCE = join(import.meta.dir, 'failing-disk.c')
const { EIO, ENOSPC } = constants.errno
const ERRORS = { EIO, ENOSPC } as const

/** The same order as in failing-disk.c. */
const FIELDS = {
  readError: 0,
  writeError: 1,
  syncError: 2,
  syncStalls: 3,
  badPage: 4,
  readStalls: 5,
  copyStalls: 6,
  struckReads: 7,
  struckWrites: 8,
  struckSyncs: 9,
} as const
const BYTES = 4 * Object.keys(FIELDS).length

type DiskError = keyof typeof ERRORS

/** What the disk does wrong; what is left out works. */
export interface DiskFault {
  readonly reads?: DiskError | 'stall'
  readonly writes?: DiskError
  readonly syncs?: DiskError | 'stall'
  /** A page of the database, counted from 1, that cannot be read. */
  readonly badPage?: number
  /** Writes to the database itself, which are those of checkpoints. */
  readonly copies?: 'stall'
}

/** Whether such a disk can be made here; the runner reports it if not. */
export const canFailDisk = process.platform === 'linux' && Boolean(process.env.TEST_CC)

export class FailingDisk {
  /** For the process whose disk is to fail. */
  readonly environment: Environment
  readonly #folder: string
  readonly #control: Int32Array

  private constructor(folder: string, environment: Environment, control: Int32Array) {
    this.#folder = folder
    this.environment = environment
    this.#control = control
  }

  /** Below `data`, the path without symbolic links of a folder that need not exist yet. Undefined where it is not possible. */
  static async make(data: string): Promise<FailingDisk | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'strand-disk-'))
    try {
      return FailingDisk.#load(folder, await compilePreload(SOURCE, folder), data)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      if (error instanceof NoPreload) return undefined
      throw error
    }
  }

  static #load(folder: string, library: string, data: string): FailingDisk {
    const file = join(folder, 'control')
    writeFileSync(file, new Uint8Array(BYTES))
    const control = new Int32Array(Bun.mmap(file, { shared: true }).buffer)
    const environment = { LD_PRELOAD: library, FAILING_DISK_FOLDER: data, FAILING_DISK_CONTROL: file }
    return new FailingDisk(folder, environment, control)
  }

  /** From now on; `{}` is a disk that works. */
  set({ reads, writes, syncs, badPage = 0, copies }: DiskFault): void {
    const isStalled = syncs === 'stall'
    this.#put('readError', reads === undefined || reads === 'stall' ? 0 : ERRORS[reads])
    this.#put('readStalls', reads === 'stall' ? 1 : 0)
    this.#put('copyStalls', copies === 'stall' ? 1 : 0)
    this.#put('writeError', writes === undefined ? 0 : ERRORS[writes])
    this.#put('syncError', syncs === undefined || isStalled ? 0 : ERRORS[syncs])
    this.#put('syncStalls', isStalled ? 1 : 0)
    this.#put('badPage', badPage)
  }

  /** How many calls have failed or been held up so far: a fault that met nothing proves nothing. */
  get struck(): { readonly reads: number; readonly writes: number; readonly syncs: number } {
    const count = (field: keyof typeof FIELDS) => Atomics.load(this.#control, FIELDS[field])
    return { reads: count('struckReads'), writes: count('struckWrites'), syncs: count('struckSyncs') }
  }

  /** Heals it, so that nothing waits for ever. */
  remove(): void {
    this.set({})
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #put(field: keyof typeof FIELDS, value: number): void {
    Atomics.store(this.#control, FIELDS[field], value)
  }
}
