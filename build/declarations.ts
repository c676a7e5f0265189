import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

const IMPORT = /(?:from|import\()\s*['"]([^'"]+)['"]/g

/** Consumers need not have it among their libraries. TypeScript knows it since 5.2. */
const DISPOSABLE = '/// <reference lib="esnext.disposable" />\n'

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
      for (const entryPoint of entryPoints) reach(declarationOf(join(emitted, entryPoint)), files)
      for (const folder of ['types', 'types-cjs'])
        for (const [file, text] of files) write(join(out, folder, relative(emitted, file)), text)
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
function reach(file: string, files: Map<string, string>): void {
  if (files.has(file)) return
  const text = readFileSync(file, 'utf8')
  const isDisposable = text.includes('AsyncDisposable')
  files.set(file, (isDisposable ? DISPOSABLE : '') + withJavaScriptNames(text))
  const code = text.replaceAll(/\/\*.*?\*\//gs, '')
  for (const [, target = ''] of code.matchAll(IMPORT)) {
    if (!target.startsWith('.')) throw new Error(`the types of the package import "${target}" in ${file}`)
    reach(declarationOf(join(dirname(file), target)), files)
  }
}
