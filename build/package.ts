/**
 * What npm runs after it installed the repository, also one that it fetched by a git URL, and before it packs: makes
 * JavaScript and declarations for those who import the package from Node. Bun reads the sources, and so does the command,
 * which runs in the Bun that comes along.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist')

/** The two doors of the package; see `exports` in package.json. */
const DOORS = ['testing/start-strand.ts', 'client/index.ts']
const TSC = join(ROOT, 'node_modules/.bin/tsc')

if (!existsSync(TSC)) {
  console.log('dist: not made, because there is no TypeScript; the command strand works without it')
  process.exit(0)
}

for (const folder of ['testing', 'client', 'types'])
  rmSync(join(OUT, folder), { recursive: true, force: true })
for (const door of DOORS) {
  await Bun.build({
    entrypoints: [join(ROOT, 'src', door)],
    root: join(ROOT, 'src'),
    outdir: OUT,
    target: 'node',
    packages: 'external',
    // Plain JavaScript already, and found from `dist/testing` as from `src/testing`.
    external: ['*/bin/runtime.js'],
  })
}
const declarations = Bun.spawnSync(
  [TSC, ...['--project', join(ROOT, 'build/tsconfig.package.json')], ...['--outDir', join(OUT, 'types')]],
  { cwd: ROOT, stdout: 'inherit', stderr: 'inherit' },
)
if (declarations.exitCode !== 0) process.exit(1)
console.log(`dist: ${DOORS.join(', ')} and their types`)
