/**
 * npm runs this after installing the repository (also from a git URL) and before packing it. Builds JavaScript and type
 * declarations for programs that import the package from Node, as ES modules and as CommonJS, and the same of the client for
 * `packages/client`, which installs without the runtime. Bun and the `strand` command read the sources.
 */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inlineCalls } from '../src/site/inline-calls.ts'
import { writeDeclarations } from './declarations.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist')
const CLIENT_OUT = join(ROOT, 'packages/client/dist')

/** The entry points of the package; see `exports` in package.json. */
const MODULE_URL = "const MODULE_URL = require('node:url').pathToFileURL(__filename).href;"
const ENTRY_POINTS = ['testing/start-strand.ts', 'client/index.ts']

if (!existsSync(join(ROOT, 'node_modules/.bin/tsc'))) {
  console.log('dist: not built, because TypeScript is not installed; the command strand works without it')
  process.exit(0)
}

for (const folder of ['testing', 'client', 'types', 'types-cjs'])
  rmSync(join(OUT, folder), { recursive: true, force: true })
rmSync(CLIENT_OUT, { recursive: true, force: true })
for (const entryPoint of ENTRY_POINTS) {
  await bundle(entryPoint, 'esm')
  await bundle(entryPoint, 'cjs')
}
cpSync(join(OUT, 'client'), CLIENT_OUT, { recursive: true })
writeDeclarations(ROOT, [
  { entryPoints: ENTRY_POINTS, out: OUT },
  { entryPoints: ['client/index.ts'], out: CLIENT_OUT },
])
console.log(`dist: ${ENTRY_POINTS.join(', ')} and their types; packages/client`)

async function bundle(entryPoint: string, format: 'esm' | 'cjs'): Promise<void> {
  const isCommonJs = format === 'cjs'
  await Bun.build({
    entrypoints: [join(ROOT, 'src', entryPoint)],
    root: join(ROOT, 'src'),
    outdir: OUT,
    naming: `[dir]/[name].${isCommonJs ? 'cjs' : 'js'}`,
    target: 'node',
    format,
    packages: 'external',
    plugins: [inlineCalls],
    // CommonJS modules have a path instead of a URL. The client needs neither, and nothing of Node.
    ...(isCommonJs && { define: { 'import.meta.url': 'MODULE_URL' } }),
    ...(isCommonJs && entryPoint.startsWith('testing/') && { banner: MODULE_URL }),
    // Plain JavaScript already, at the same relative path from `dist/testing` and `src/testing`. CommonJS cannot load it.
    external: isCommonJs ? [] : ['*/bin/runtime.js'],
  })
}
