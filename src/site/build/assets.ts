/** The scripts, style sheets and fonts of pages, as they are served under `/assets/`. */

import { assertDefined } from '../../kit/assert-defined.ts'
import { lazy } from '../../kit/lazy.ts'
import { type Bundle, bundleFonts, bundleScripts, bundleStyles } from './bundle.ts'
import { PART } from './part-name.ts'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly text: string
  readonly gzipped: Uint8Array<ArrayBuffer>
}

/** A font is compressed by its format. */
export interface FontAsset extends Pick<Asset, 'path' | 'type'> {
  readonly bytes: Uint8Array<ArrayBuffer>
}

export const ASSET_PREFIX = '/assets/'
/** The name of an island, a style sheet or a font, and a hash of the content. */
const FILE_NAME = /^([a-z0-9-]+)-([0-9a-z]{8})\.(js|css|woff2)$/

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

const scripts = lazy(async () => listAssets(await bundleScripts()))
const styles = lazy(async () => listAssets(await bundleStyles()))
const fonts = lazy(async (): Promise<ReadonlyMap<string, FontAsset>> => {
  const files = Object.entries(await bundleFonts())
  return new Map(
    files.map(([file, base64]) => [
      file,
      { path: ASSET_PREFIX + file, type: 'font/woff2', bytes: Uint8Array.fromBase64(base64) },
    ]),
  )
})

function listAssets(bundle: Bundle): ReadonlyMap<string, Asset> {
  return new Map(
    Object.entries(bundle).map(([file, text]) => [
      file,
      {
        path: ASSET_PREFIX + file,
        type: assertDefined(TYPES[file.slice(file.lastIndexOf('.') + 1)], `the type of ${file}`),
        text,
        gzipped: Bun.gzipSync(text, { level: 9 }),
      },
    ]),
  )
}

/** The path of a style sheet by the name of its source. */
export async function stylePath(name: string): Promise<string> {
  return assertDefined(firstNamed(await styles(), name, 'css'), `the style sheet ${name}`).path
}

/** The path of the font that the text of all pages is set in. */
export async function fontPath(): Promise<string> {
  return assertDefined(firstNamed(await fonts(), 'instrument-sans', 'woff2'), 'the font').path
}

/** The script of an island, and the scripts that it imports at once: the browser need not find out one after the other. */
export async function islandScripts(name: string): Promise<{ path: string; imports: string[] }> {
  const { path, text } = assertDefined(
    firstNamed(await scripts(), name, 'js'),
    `the script of the island ${name}`,
  )
  const imports = [...text.matchAll(/\bfrom"\.\/([^"]+)"/g)].map(([, file = '']) => ASSET_PREFIX + file)
  return { path, imports: [...new Set(imports)] }
}

/**
 * The asset at this path. During an upgrade, a page may come from a node of another release than its assets: any name of an
 * island or a style sheet leads to the one of this node, which is current only under its right name.
 */
export async function findAsset(path: string): Promise<Asset | undefined> {
  const file = path.slice(ASSET_PREFIX.length)
  const [, name = '', , kind = ''] = FILE_NAME.exec(file) ?? []
  if (name === '' || kind === 'woff2') return undefined
  const all = await (kind === 'css' ? styles() : scripts())
  return all.get(file) ?? (name === PART ? undefined : firstNamed(all, name, kind))
}

/** The font at this path, with the same rule. */
export async function findFont(path: string): Promise<FontAsset | undefined> {
  const file = path.slice(ASSET_PREFIX.length)
  const [, name = '', , kind = ''] = FILE_NAME.exec(file) ?? []
  if (kind !== 'woff2') return undefined
  const all = await fonts()
  return all.get(file) ?? firstNamed(all, name, kind)
}

function firstNamed<T>(all: ReadonlyMap<string, T>, name: string, kind: string): T | undefined {
  for (const [file, asset] of all) {
    const [, itsName, , itsKind] = FILE_NAME.exec(file) ?? []
    if (itsName === name && itsKind === kind) return asset
  }
  return undefined
}
