/**
 * npm runs this after installing the repository (also from a git URL) and before packing it. Builds JavaScript and type
 * declarations for programs that import the package from Node. Bun and the `strand` command read the sources.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inlineCalls } from '../src/site/inline-calls.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist')

/** The entry points of the package; see `exports` in package.json. */
const ENTRY_POINTS = ['testing/start-strand.ts', 'client/index.ts']
const TSC = join(ROOT, 'node_modules/.bin/tsc')

if (!existsSync(TSC)) {
  console.log('dist: not built, because TypeScript is not installed; the command strand works without it')
  process.exit(0)
}

for (const folder of ['testing', 'client', 'types'])
  rmSync(join(OUT, folder), { recursive: true, force: true })
for (const entryPoint of ENTRY_POINTS) {
  await Bun.build({
    entrypoints: [join(ROOT, 'src', entryPoint)],
    root: join(ROOT, 'src'),
    outdir: OUT,
    target: 'node',
    packages: 'external',
    plugins: [inlineCalls],
    // Plain JavaScript already, at the same relative path from `dist/testing` and `src/testing`.
    external: ['*/bin/runtime.js'],
  })
}
const declarations = Bun.spawnSync(
  [TSC, ...['--project', join(ROOT, 'build/tsconfig.package.json')], ...['--outDir', join(OUT, 'types')]],
  { cwd: ROOT, stdout: 'inherit', stderr: 'inherit' },
)
if (declarations.exitCode !== 0) process.exit(1)
console.log(`dist: ${ENTRY_POINTS.join(', ')} and their types`)
