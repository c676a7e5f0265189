/** A clock that a test can set for real processes, while they run. */
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compilePreload } from '../../../tools/preload.ts'
import type { Environment } from './strand-process.ts'

export class ShiftedClock {
  /** For the processes whose clock it is to be. */
  readonly environment: Environment
  readonly #folder: string
  readonly #file: number

  private constructor(folder: string, library: string) {
    this.#folder = folder
    const path = join(folder, 'shift')
    this.#file = openSync(path, 'w')
    this.environment = { LD_PRELOAD: library, CLOCK_SHIFT_FILE: path }
    this.set(0)
    chmodSync(path, 0o644)
  }

  /** Throws `NoPreload` where that cannot be done. */
  static async create(): Promise<ShiftedClock> {
    const folder = mkdtempSync(join(tmpdir(), 'strand-clock-'))
    // PostgreSQL runs as another user.
    chmodSync(folder, 0o755)
    try {
      return new ShiftedClock(folder, await compilePreload(join(import.meta.dir, 'shifted-clock.c'), folder))
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** How far it is ahead of the machine's clock; negative if it is behind. */
  set(milliseconds: number): void {
    const bytes = new BigInt64Array([BigInt(milliseconds)])
    writeSync(this.#file, bytes, 0, bytes.byteLength, 0)
  }

  remove(): void {
    closeSync(this.#file)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
