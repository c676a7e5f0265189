/**
 * `npm run build`: one self-contained executable, dist/strand, with the runtime, the pages and the migrations in it.
 *
 *   npm run build
 *   npm run build -- --out /tmp/strand
 *   npm run build -- --target linux-arm64                    for another system, whose runtime is fetched from npm
 *   npm run build -- --target linux-arm64 --runtime FILE     the same without a network: FILE is that runtime
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/strand' },
    target: { type: 'string' },
    runtime: { type: 'string' },
  },
})
/**
 * A thread starts from a file of its own, so each is an entry as well as main.ts. Inside the executable all entries lie in
 * one folder, whatever folder of the sources they come from; so the address that starts one is cut to its last part there.
 */
const THREAD = /new Worker\(new URL\('([^']+)', import\.meta\.url\)/g
const threads = [...new Glob('src/**/*.ts').scanSync(ROOT)].flatMap(file => {
  const starter = join(ROOT, file)
  const addresses = [...readFileSync(starter, 'utf8').matchAll(THREAD)].map(([, address = '']) => address)
  return addresses.map(address => ({ starter, file: join(dirname(starter), address) }))
})
const threadsBeside: Bun.BunPlugin = {
  name: 'threads lie beside the program',
  setup: builder => {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!threads.some(thread => thread.starter === path)) return undefined
      const contents = readFileSync(path, 'utf8').replaceAll(
        THREAD,
        (_, address: string) => `new Worker(new URL('./${basename(address)}', import.meta.url)`,
      )
      return { contents, loader: 'ts' }
    })
  },
}

const out = resolve(values.out)
mkdirSync(dirname(out), { recursive: true })
// Made beside its place and put there whole: one that runs meanwhile is not written into.
const unfinished = `${out}.${process.pid}`
const began = performance.now()
await Bun.build({
  entrypoints: [join(ROOT, 'src/main.ts'), ...threads.map(thread => thread.file)],
  naming: { entry: '[name].[ext]' },
  plugins: [threadsBeside],
  target: 'bun',
  minify: { whitespace: true, syntax: true, identifiers: false },
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
