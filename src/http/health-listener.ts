/** The main thread's end of the health listener (`health-thread.ts`). */

/** What the thread gets: where to listen, and memory with a count and whether this process is ready. */
export interface HealthStart {
  readonly host: string
  readonly port: number
  readonly state: SharedArrayBuffer
}

const COUNT_MILLISECONDS = 100
const READY_MILLISECONDS = 1000

/** Listens until it is closed. Throws what `Bun.serve` would throw. */
export async function openHealthListener(
  { host, port }: { readonly host: string; readonly port: number },
  isReady: () => Promise<boolean>,
): Promise<{ readonly port: number; close(): void }> {
  const state = new SharedArrayBuffer(8)
  const [counted, ready] = [new Int32Array(state, 0, 1), new Int32Array(state, 4, 1)]
  const worker = new Worker(new URL('./health-thread.ts', import.meta.url).href)
  const started = await new Promise<{ port: number } | { code?: string; message: string }>(resolve => {
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => resolve({ message })
    worker.postMessage({ host, port, state } satisfies HealthStart)
  })
  if (!('port' in started)) {
    worker.terminate()
    throw Object.assign(new Error(started.message), { code: started.code })
  }
  const counting = setInterval(() => Atomics.add(counted, 0, 1), COUNT_MILLISECONDS)
  const noteReady = () =>
    isReady().then(
      is => Atomics.store(ready, 0, Number(is)),
      () => Atomics.store(ready, 0, 0),
    )
  const asking = setInterval(noteReady, READY_MILLISECONDS)
  await noteReady()
  return {
    port: started.port,
    close: () => {
      clearInterval(counting)
      clearInterval(asking)
      worker.terminate()
    },
  }
}
