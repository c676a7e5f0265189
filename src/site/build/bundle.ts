/**
 * Bundles scripts and style sheets from their sources, and fonts, on first use. The build of the executable puts the results in place
 * of this file: an executable has no sources.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { inlineCalls } from './inline-calls.ts'
import { PART } from './part-name.ts'

/** Files by name. A name changes with the content; scripts import each other by name. */
export type Bundle = Readonly<Record<string, string>>

/** The licences ask for a notice in copies. Shorter files than these libraries have none of them. */
const LICENCES =
  '/*! Contains hls.js (c) Dailymotion, Brightcove: Apache License 2.0; preact (c) Jason Miller, uPlot (c) Leon Sorokin: MIT */'
const SHORTEST_LIBRARY = 10_000

/** A script per island. What several use is in files that they share; what is imported on demand is in files as well. */
export async function bundleScripts(): Promise<Bundle> {
  const scripts = await build({
    entrypoints: filesIn('islands'),
    format: 'esm',
    splitting: true,
    plugins: [inlineCalls],
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
  })
  const noticed = Object.entries(scripts).map(([name, text]) => [
    name,
    text.length < SHORTEST_LIBRARY ? text : `${LICENCES}\n${text}`,
  ])
  return Object.fromEntries(noticed)
}

/** A style sheet per file directly in the folder; they import their parts from below it. */
export const bundleStyles = (): Promise<Bundle> =>
  build({ entrypoints: filesIn('styles'), external: ['/assets/*'] })

/** The fonts as Base64. Their names have a hash already, because style sheets contain them. */
export async function bundleFonts(): Promise<Bundle> {
  const files = filesIn('fonts').filter(path => path.endsWith('.woff2'))
  const fonts = files.map(async path => [basename(path), (await Bun.file(path).bytes()).toBase64()] as const)
  return Object.fromEntries(await Promise.all(fonts))
}

async function build(options: Bun.BuildConfig): Promise<Bundle> {
  const name = '[name]-[hash].[ext]'
  const { outputs } = await Bun.build({
    ...options,
    target: 'browser',
    minify: true,
    naming: { entry: name, chunk: `${PART}-[hash].[ext]`, asset: name },
  })
  const files = await Promise.all(
    outputs.map(async output => [output.path.replace(/^\.\//, ''), await output.text()] as const),
  )
  return Object.fromEntries(files)
}

function filesIn(folder: string): string[] {
  const path = join(import.meta.dir, '..', folder)
  return readdirSync(path, { withFileTypes: true }).flatMap(entry =>
    entry.isFile() ? join(path, entry.name) : [],
  )
}
