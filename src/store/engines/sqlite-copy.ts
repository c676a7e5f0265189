import type { CopyAnswer, CopyJob } from './sqlite-copier.ts'

/** Has the store copied by a thread of its own; see there. Throws if it cannot, or if the copy is not whole. */
export async function copySqlite(job: CopyJob): Promise<void> {
  const worker = new Worker(new URL('./sqlite-copier.ts', import.meta.url).href)
  try {
    const answer = await new Promise<CopyAnswer>((resolve, reject) => {
      worker.onmessage = (message: MessageEvent<CopyAnswer>) => resolve(message.data)
      worker.onerror = event => reject(new Error(event.message))
      worker.postMessage(job)
    })
    if (answer.outcome === 'failed') throw new Error(answer.why)
  } finally {
    worker.terminate()
  }
}
