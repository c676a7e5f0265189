import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'
import { inlineAssets } from './inline-assets.ts'

const THREADS = ['store/engines/sqlite-writer.ts', 'store/engines/sqlite-copier.ts']

/**
 * The program as one file with its bytecode, which `strand` and the child processes of the test harness run: reading 900
 * source files takes longer than all else at a start. Another version of the runtime than the one that builds ignores the
 * bytecode and reads the file. It is not minified, so that stack traces lead to lines that can be read.
 */
export async function bundleProgram(root: string, out: string): Promise<void> {
  await bundle(root, ['main.ts', ...THREADS], out)
}

/** Only the threads of the embedded store, for tests that run the rest from the sources. */
export function bundleThreads(root: string, out: string): Promise<void> {
  return bundle(root, THREADS, out)
}

async function bundle(root: string, files: readonly string[], out: string): Promise<void> {
  await Bun.build({
    entrypoints: files.map(file => join(root, 'src', file)),
    naming: { entry: '[name].[ext]' },
    outdir: out,
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    plugins: [threadsBeside, await inlineAssets()],
  })
}

/** Threads start from files beside the bundle: in this format the address of a module is that of its source. */
const threadsBeside: BunPlugin = {
  name: 'threads-beside',
  setup: build => {
    build.onLoad({ filter: /[\\/](?:writer-queue|sqlite-copy)\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const contents = source.replace(
        /new URL\('\.\/([a-z-]+)\.ts', import\.meta\.url\)\.href/,
        '`$' + '{__dirname}/$1.js`',
      )
      if (contents === source) throw new Error(`${path} starts no thread in the expected way`)
      return { contents, loader: 'ts' }
    })
  },
}
