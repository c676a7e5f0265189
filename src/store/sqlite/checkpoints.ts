import { statSync } from 'node:fs'
import { withTimeout } from '../../kit/time/with-timeout.ts'
import type { StoreFiles } from './sqlite-files.ts'

const LOOK_MILLISECONDS = 500
/** A store with a smaller log needs no checkpoints: most tests, and commands that end soon. */
const START_BYTES = 8 * 1024 * 1024
const CLOSE_MILLISECONDS = 1000

/** Starts the checkpoint thread (`sqlite-checkpointer.ts`) when the log has grown, and again if the thread is lost. */
export class Checkpoints {
  readonly #files: StoreFiles
  readonly #looking: Timer
  #worker: Worker | undefined

  constructor(files: StoreFiles) {
    this.#files = files
    this.#looking = setInterval(() => this.#look(), LOOK_MILLISECONDS)
  }

  /** Returns in bounded time: a thread that waits for the disk is left to itself. */
  async close(): Promise<void> {
    clearInterval(this.#looking)
    const worker = this.#worker
    this.#worker = undefined
    if (worker === undefined) return
    await withTimeout(
      CLOSE_MILLISECONDS,
      new Promise<void>(resolve => {
        worker.onmessage = () => resolve()
        worker.addEventListener('close', () => resolve())
        worker.postMessage('close')
      }),
      () => undefined,
    )
    worker.terminate()
  }

  #look(): void {
    if (this.#worker !== undefined) return
    const { file, ids, log } = this.#files
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < START_BYTES) return
    const worker = new Worker(new URL('./sqlite-checkpointer.ts', import.meta.url).href)
    const lose = () => {
      if (this.#worker === worker) this.#worker = undefined
    }
    worker.onerror = lose
    worker.addEventListener('close', lose)
    worker.postMessage({ file, ids })
    this.#worker = worker
  }
}
