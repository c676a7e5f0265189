import type { CopyAnswer, CopyJob } from './sqlite-copier.ts'

/** Copies the store in a worker thread (`sqlite-copier.ts`). Throws if that fails or the copy is damaged. */
export async function copySqlite(job: CopyJob): Promise<void> {
  const worker = new Worker(new URL('./sqlite-copier.ts', import.meta.url).href)
  try {
    const answer = await new Promise<CopyAnswer>((resolve, reject) => {
      worker.onmessage = (message: MessageEvent<CopyAnswer>) => resolve(message.data)
      worker.onerror = event => reject(new Error(event.message))
      worker.postMessage(job)
    })
    if (answer.outcome === 'failed') throw new Error(answer.reason)
  } finally {
    worker.terminate()
  }
}
