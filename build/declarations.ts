import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const IMPORT = /(?:from|import\()\s*['"]([^'"]+)['"]/g

/** Where sources are; see `rootDirs` in tsconfig.json. The declarations of all of them go into one folder. */
const SOURCE_FOLDERS = ['src', 'dist/generated']

/** Consumers need not have it among their libraries. TypeScript knows it since 5.2. */
const DISPOSABLE = '/// <reference lib="esnext.disposable" />\n'

/** The largest one, which has types alone: `types` refers to that of `types-cjs`, instead of repeating it. */
const SHARED = 'client/api.d.ts'

/**
 * Writes the type declarations of the entry points to `types`, and again to `types-cjs`, which is CommonJS by its
 * package.json. Only the declarations that an entry point leads to are copied. They import no other package: a consumer
 * compiles these files and nothing else.
 */
export function writeDeclarations(
  root: string,
  packages: readonly { readonly entryPoints: readonly string[]; readonly out: string }[],
): void {
  const emitted = mkdtempSync(join(tmpdir(), 'strand-types-'))
  try {
    emit(root, emitted)
    for (const { entryPoints, out } of packages) {
      const files = new Map<string, string>()
      for (const entryPoint of entryPoints) reach(emitted, declarationOf(entryPoint), files)
      for (const folder of ['types', 'types-cjs'])
        for (const [file, text] of files) write(join(out, folder, file), text)
      write(join(out, 'types', SHARED), "export type * from '../../types-cjs/client/api.js'\n")
      write(join(out, 'types-cjs/package.json'), '{ "type": "commonjs" }\n')
    }
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function emit(root: string, outDir: string): void {
  const tsc = Bun.spawnSync(
    [
      join(root, 'node_modules/.bin/tsc'),
      ...['--project', join(root, 'build/tsconfig.package.json')],
      ...['--outDir', outDir],
    ],
    { cwd: root, stdout: 'inherit', stderr: 'inherit' },
  )
  if (tsc.exitCode !== 0) process.exit(1)
}

function withJavaScriptNames(text: string): string {
  return text.replaceAll(/(from|import\()( *['"]\.[^'"]+)\.ts(['"])/g, '$1$2.js$3')
}

function declarationOf(file: string): string {
  return file.replace(/\.ts$/, '.d.ts')
}

/** Collects a file and all that it imports. The compiler leaves the names of sources in imports. */
function reach(emitted: string, file: string, files: Map<string, string>): void {
  if (files.has(file)) return
  const place = SOURCE_FOLDERS.map(folder => join(emitted, folder, file)).find(each => existsSync(each))
  if (place === undefined) throw new Error(`the compiler has not written ${file}`)
  const text = readFileSync(place, 'utf8')
  const isDisposable = text.includes('AsyncDisposable')
  files.set(file, (isDisposable ? DISPOSABLE : '') + withJavaScriptNames(text))
  const code = text.replaceAll(/\/\*.*?\*\//gs, '')
  for (const [, target = ''] of code.matchAll(IMPORT)) {
    if (!target.startsWith('.')) throw new Error(`the types of the package import "${target}" in ${file}`)
    reach(emitted, declarationOf(join(dirname(file), target)), files)
  }
}
