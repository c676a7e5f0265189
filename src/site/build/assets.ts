/** The scripts and style sheets of pages, as they are served under `/assets/`. */

import { assertDefined } from '../../kit/assert-defined.ts'
import { lazy } from '../../kit/lazy.ts'
import { type Bundle, bundleScripts, bundleStyles } from './bundle.ts'
import { PART } from './part-name.ts'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly text: string
  readonly gzipped: Uint8Array<ArrayBuffer>
}

export const ASSET_PREFIX = '/assets/'
/** The name of an island or a style sheet, and a hash of the content. */
const FILE_NAME = /^([a-z0-9-]+)-([0-9a-z]{8})\.(js|css)$/

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

const scripts = lazy(async () => listAssets(await bundleScripts()))
const styles = lazy(async () => listAssets(await bundleStyles()))

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
  if (name === '') return undefined
  const all = await (kind === 'css' ? styles() : scripts())
  return all.get(file) ?? (name === PART ? undefined : firstNamed(all, name, kind))
}

function firstNamed(all: ReadonlyMap<string, Asset>, name: string, kind: string): Asset | undefined {
  for (const [file, asset] of all) {
    const [, itsName, , itsKind] = FILE_NAME.exec(file) ?? []
    if (itsName === name && itsKind === kind) return asset
  }
  return undefined
}
