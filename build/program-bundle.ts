import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'
import { assetsModule, BUNDLE_MODULE, siteAssets } from './site-assets.ts'

/** The files that run as threads: entries of their own, which the build puts beside the program. */
export const THREADS: readonly string[] = [
  'store/sqlite/sqlite-writer.ts',
  'store/sqlite/sqlite-checkpointer.ts',
  'store/sqlite/sqlite-copier.ts',
  'http/health-thread.ts',
]
const ASSETS_FILE = 'assets.json'
const SITE = /[\\/]src[\\/]site[\\/]/
/** Names across files stay, so that stack traces lead to functions; `shortLocals` shortens the others. */
export const MINIFIED = { whitespace: true, syntax: true, identifiers: false } as const
/** Bun would write the folder of each source into the bundle, which is of no use on another machine. */
const FOLDER = 'PROGRAM_FOLDER'

/**
 * The program as one file with its bytecode, which `strand` and the child processes of the test harness run: reading 900
 * source files takes longer than all else at a start. Another version of the runtime than the one that builds ignores the
 * bytecode and reads the file. The site's scripts and style sheets are a file beside it, because bytecode would contain them
 * again.
 */
export async function bundleProgram(root: string, out: string): Promise<void> {
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, ASSETS_FILE), await siteAssets())
  const assets = assetsModule(`require(${FOLDER} + '/${ASSETS_FILE}')`)
  await bundle(root, ['main.ts'], { out, plugins: programPlugins(assets), bytecode: true })
  // Their bytecode would be a seventh of the package, and saves 20 ms at a start. Few functions can fail in them: short names.
  await bundle(root, THREADS, {
    out,
    plugins: programPlugins(assets),
    bytecode: false,
    minify: { ...MINIFIED, identifiers: true },
  })
}

/** Only the threads of the embedded store, for tests that run the rest from the sources. */
export function bundleThreads(root: string, out: string): Promise<void> {
  return bundle(root, THREADS, { out, plugins: [], bytecode: true })
}

/** What the executable is built from: the same entries, with the site's scripts and style sheets in it. */
export async function executableEntries(
  root: string,
): Promise<
  Pick<Bun.BuildConfig, 'banner' | 'define' | 'entrypoints' | 'jsx' | 'naming' | 'plugins' | 'target'>
> {
  return {
    ...entries(root, ['main.ts', ...THREADS]),
    banner: `const ${FOLDER} = import.meta.dir;`,
    plugins: programPlugins(assetsModule(await siteAssets())),
  }
}

async function bundle(
  root: string,
  files: readonly string[],
  { out, ...options }: Pick<Bun.BuildConfig, 'bytecode' | 'minify' | 'plugins'> & { readonly out: string },
): Promise<void> {
  const { define, ...others } = entries(root, files)
  await Bun.build({
    minify: MINIFIED,
    ...others,
    ...options,
    outdir: out,
    format: 'cjs',
    // CommonJS modules have a path instead of a URL.
    define: { ...define, 'import.meta.url': 'PROGRAM_URL' },
    banner: `const ${FOLDER} = __dirname, PROGRAM_URL = require('node:url').pathToFileURL(__filename).href;`,
  })
}

function entries(root: string, files: readonly string[]) {
  return {
    entrypoints: files.map(file => join(root, 'src', file)),
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    define: { __dirname: FOLDER },
    // Calls for developers have four arguments more, which nothing reads.
    jsx: { development: false },
  } as const
}

function programPlugins(assets: string): BunPlugin[] {
  return [
    threadsBeside,
    withoutBrowserScripts,
    withoutLogThreads,
    withoutUnusedFormats,
    {
      name: 'site-assets',
      setup: build => {
        build.onLoad({ filter: BUNDLE_MODULE }, () => ({ contents: assets, loader: 'js' }))
      },
    },
    shortLocals,
  ]
}

/**
 * Shortens names that only one file knows, which are a fourteenth of the package: bytecode has them too. What a file exports,
 * and methods, keep their names.
 */
const shortLocals: BunPlugin = {
  name: 'short-locals',
  setup: build => {
    for (const [loader, filter] of [
      ['ts', /[\\/]src[\\/].*\.ts$/],
      ['js', /[\\/]node_modules[\\/].*\.[cm]?js$/],
    ] as const) {
      // The types of the runtime do not have this option yet.
      const options = { loader, minify: { identifiers: true } }
      const transpiler = new Bun.Transpiler(options)
      build.onLoad({ filter }, async ({ path }) => ({
        contents: await transpiler.transform(await Bun.file(path).text()),
        loader: 'js',
      }))
    }
  },
}

/** Formats of JSON Schema that no declaration has; their checks would be a fiftieth of the program. */
export const UNUSED_FORMATS: readonly string[] = [
  'duration',
  'email',
  'hostname',
  'idn-email',
  'idn-hostname',
  'ipv4',
  'ipv6',
  'iri',
  'iri-reference',
  'json-pointer',
  'json-pointer-uri-fragment',
  'regex',
  'relative-json-pointer',
  'uri-reference',
]

const withoutUnusedFormats: BunPlugin = {
  name: 'without-unused-formats',
  setup: build => {
    const names = UNUSED_FORMATS.map(format => format.replaceAll('-', '_')).join('|')
    const filter = new RegExp(`[\\\\/]typebox[\\\\/]build[\\\\/]format[\\\\/](?:${names})\\.mjs$`)
    build.onLoad({ filter }, ({ path }) => {
      const [, name] = /export function (Is\w+)/.exec(readFileSync(path, 'utf8')) ?? []
      if (name === undefined) throw new Error(`${path} exports no check`)
      return {
        contents: `export function ${name}() { throw new Error('not in this program') }`,
        loader: 'js',
      }
    })
  },
}

/** Threads start from files beside the program, which are no longer TypeScript. */
const threadsBeside: BunPlugin = {
  name: 'threads-beside',
  setup: build => {
    build.onLoad({ filter: /[\\/](?:writer-queue|sqlite-copy)\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const contents = source.replace(/(?<=new URL\('\.\/[a-z-]+)\.ts(?=', import\.meta\.url\))/, '.js')
      if (contents === source) throw new Error(`${path} starts no thread in the expected way`)
      return { contents, loader: 'ts' }
    })
  },
}

/** What the scripts of the site import on demand runs in browsers only, with the packages that play video and draw charts. */
const withoutBrowserScripts: BunPlugin = {
  name: 'without-browser-scripts',
  setup: build => {
    build.onResolve({ filter: /./ }, ({ path, importer, kind }) =>
      kind === 'dynamic-import' && SITE.test(importer) ? { path, namespace: 'browser' } : undefined,
    )
    build.onLoad({ filter: /./, namespace: 'browser' }, () => ({ contents: 'export {}', loader: 'js' }))
  },
}

/** pino can write from another thread, which the program never asks for. */
const withoutLogThreads: BunPlugin = {
  name: 'without-log-threads',
  setup: build => {
    build.onResolve({ filter: /^thread-stream$/ }, ({ path }) => ({ path, namespace: 'unused' }))
    build.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'export {}', loader: 'js' }))
  },
}
