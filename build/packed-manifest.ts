/**
 * The package.json of a packed package: what its users need, without scripts and what only a checkout uses, and with the
 * addresses that follow from `repository`, which is in the package.json of the checkout alone. npm packs the file that is
 * there, so the script `prepack` replaces it and `postpack` restores it.
 *
 *   packed-manifest.ts [folder] [restore]       folder: of the package, from the root of the checkout
 */
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPage } from './repository-page.ts'

const ROOT = join(import.meta.dir, '..')
const FOR_CHECKOUTS = ['scripts', 'devDependencies', 'workspaces', 'overrides', 'allowScripts']

interface Manifest {
  readonly repository: { readonly type: string; readonly url: string }
  readonly [field: string]: unknown
}

const words = process.argv.slice(2)
const restores = words.at(-1) === 'restore'
const folder = (restores ? words.slice(0, -1) : words)[0]
const manifest = join(ROOT, folder ?? '.', 'package.json')
// Not in the folder of the package: it would be packed.
const whole = join(ROOT, 'dist', `${folder?.replaceAll('/', '-') ?? ''}package.json.whole`)

// Also one that is left over from a pack that was interrupted.
if (existsSync(whole)) renameSync(whole, manifest)
if (!restores) reduce()

function reduce(): void {
  copyFileSync(manifest, whole)
  const entries = Object.entries(readManifest(manifest)).filter(([name]) => !FOR_CHECKOUTS.includes(name))
  const packed = { ...Object.fromEntries(entries), ...findAddresses() }
  writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`)
}

function findAddresses() {
  const { repository } = readManifest(folder === undefined ? whole : join(ROOT, 'package.json'))
  const page = repositoryPage(repository.url)
  return {
    repository: { ...repository, ...(folder !== undefined && { directory: folder }) },
    bugs: `${page}/issues`,
    homepage: `${page}#readme`,
  }
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest
}
