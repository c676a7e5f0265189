/**
 * `npm run build`: one self-contained executable, dist/strand, with the runtime, the pages and the migrations in it.
 *
 *   npm run build
 *   npm run build -- --out /tmp/strand
 *   npm run build -- --target linux-arm64                    for another system, whose runtime is fetched from npm
 *   npm run build -- --target linux-arm64 --runtime FILE     the same without a network: FILE is that runtime
 */
import { chmodSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { executableEntries, MINIFIED } from './program-bundle.ts'

const ROOT = join(import.meta.dir, '..')

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/strand' },
    target: { type: 'string' },
    runtime: { type: 'string' },
  },
})
const out = resolve(values.out)
mkdirSync(dirname(out), { recursive: true })
// Made beside its place and put there whole: one that runs meanwhile is not written into.
// The compiler adds .exe to the names of executables for Windows that lack it.
const isForWindows = values.target?.startsWith('windows') ?? process.platform === 'win32'
const unfinished = `${out}.${process.pid}${isForWindows ? '.exe' : ''}`
const began = performance.now()
await Bun.build({
  ...(await executableEntries(ROOT)),
  minify: MINIFIED,
  // Compiled ahead of time it starts in half the time. Bytecode belongs to one version of the runtime, so only the runtime
  // that builds gets it.
  ...(values.target === undefined && values.runtime === undefined && { bytecode: true, format: 'esm' }),
  compile: {
    outfile: unfinished,
    ...(values.target !== undefined && { target: `bun-${values.target}` as Bun.Build.CompileTarget }),
    ...(values.runtime !== undefined && { executablePath: resolve(values.runtime) }),
    // Settings come from where the documents say, and code only from the executable: not from the folder one is in.
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
  },
})
chmodSync(unfinished, 0o755)
renameSync(unfinished, out)
const megabytes = (statSync(out).size / 1e6).toFixed(0)
console.log(`${out}: ${megabytes} MB in ${((performance.now() - began) / 1000).toFixed(1)} s`)
