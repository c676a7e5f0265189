/**
 * npm runs this after installing the repository (also from a git URL) and before packing it. Builds what the package has:
 * JavaScript and type declarations for programs that import it from Node, as ES modules and, for Jest, as CommonJS, and the
 * same of the client for `packages/client`, which installs without the runtime; the program as one file, which the `strand`
 * command of the package runs.
 */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inlineCalls } from '../src/site/build/inline-calls.ts'
import { licenseTexts } from './bundled-packages.ts'
import { writeClientTypes } from './client-types.ts'
import { writeDeclarations } from './declarations.ts'
import { bundleProgram } from './program-bundle.ts'
import { replaceFolder } from './replace-folder.ts'

const ROOT = join(import.meta.dir, '..')

/** The entry points of the package; see `exports` in package.json. */
const ENTRY_POINTS = ['testing/start-strand.ts', 'testing/intercept.ts', 'client/index.ts']
const MODULE_URL = "const MODULE_URL = require('node:url').pathToFileURL(__filename).href;"

// `test/packages.js` installs more packages, and changes nothing that is built.
if (process.env.STRAND_IS_BUILT === 'true') process.exit(0)
if (!existsSync(join(ROOT, 'node_modules/.bin/tsc'))) {
  console.log('dist: not built, because the development dependencies are not installed')
  process.exit(0)
}

writeClientTypes()
const built = mkdtempSync(join(tmpdir(), 'strand-dist-'))
try {
  const out = join(built, 'strand')
  const clientOut = join(built, 'client')
  for (const entryPoint of ENTRY_POINTS) {
    await bundle(entryPoint, 'esm', out)
    await bundle(entryPoint, 'cjs', out)
  }
  await bundleProgram(ROOT, join(out, 'program'))
  cpSync(join(out, 'client'), clientOut, { recursive: true })
  writeDeclarations(ROOT, [
    { entryPoints: ENTRY_POINTS, out },
    { entryPoints: ['client/index.ts'], out: clientOut },
  ])
  for (const folder of ['testing', 'client', 'program', 'types', 'types-cjs'])
    replaceFolder(join(out, folder), join(ROOT, 'dist', folder))
  writeFileSync(join(ROOT, 'dist/licenses.txt'), licenseTexts())
  replaceFolder(clientOut, join(ROOT, 'packages/client/dist'))
  console.log(`dist: ${ENTRY_POINTS.join(', ')} and their types; packages/client`)
} finally {
  rmSync(built, { recursive: true, force: true })
}

async function bundle(entryPoint: string, format: 'esm' | 'cjs', outdir: string): Promise<void> {
  const isCommonJs = format === 'cjs'
  await Bun.build({
    entrypoints: [join(ROOT, 'src', entryPoint)],
    root: join(ROOT, 'src'),
    outdir,
    naming: `[dir]/[name].${isCommonJs ? 'cjs' : 'js'}`,
    target: 'node',
    format,
    packages: 'external',
    plugins: [inlineCalls],
    // CommonJS modules have a path instead of a URL. The client needs neither, and nothing of Node.
    ...(isCommonJs && { define: { 'import.meta.url': 'MODULE_URL' } }),
    ...(isCommonJs && entryPoint.startsWith('testing/') && { banner: MODULE_URL }),
    // Plain JavaScript already, at the same relative path from `dist/testing` and `src/testing`.
    external: ['*/bin/runtime.js'],
  })
}
