/**
 * What npm runs before it packs: JavaScript and declarations for those who import the package from Node. Bun reads the
 * sources, and so does the command, which runs in the Bun that comes along.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist')

/** The two doors of the package; see `exports` in package.json. */
const DOORS = ['testing/start-strand.ts', 'client/index.ts']

for (const folder of ['testing', 'client', 'types'])
  rmSync(join(OUT, folder), { recursive: true, force: true })
for (const door of DOORS) {
  await Bun.build({
    entrypoints: [join(ROOT, 'src', door)],
    root: join(ROOT, 'src'),
    outdir: OUT,
    target: 'node',
    packages: 'external',
  })
}
const declarations = Bun.spawnSync(
  [
    join(ROOT, 'node_modules/.bin/tsc'),
    ...['--project', join(ROOT, 'build/tsconfig.package.json')],
    ...['--outDir', join(OUT, 'types')],
  ],
  { cwd: ROOT, stdout: 'inherit', stderr: 'inherit' },
)
if (declarations.exitCode !== 0) process.exit(1)
console.log(`dist: ${DOORS.join(', ')} and their types`)
