/**
 * Test servers start the threads of the embedded store from the bundle that the test run has built. Reading the sources again
 * for each thread was about a third of the processor time of starting and stopping a server.
 */
import { basename, join } from 'node:path'
import { ROOT } from '../cli/strand-process.ts'

const bundles = process.env.TEST_THREADS || undefined
const THREADS: ReadonlySet<string> = new Set(['sqlite-writer', 'sqlite-checkpointer', 'sqlite-copier'])
const SQLITE = Bun.pathToFileURL(join(ROOT, 'src/store/sqlite/')).href

/** The bundle of a thread of ours; any other stays as it is. */
function bundleOf(thread: string | URL): string | URL {
  const { href } = new URL(thread, SQLITE)
  const name = href.startsWith(SQLITE) ? basename(href, '.ts') : ''
  return THREADS.has(name) ? join(bundles ?? '', `${name}.js`) : thread
}

class BundledWorker extends Worker {
  constructor(thread: string | URL, options?: ConstructorParameters<typeof Worker>[1]) {
    super(bundleOf(thread), options)
  }
}

/** Does nothing without a test run. */
export function useBundledThreads(): void {
  if (bundles !== undefined) globalThis.Worker = BundledWorker
}
