/**
 * The package.json of the packed package: what its users need, without scripts and what only a checkout uses. npm packs the
 * file that is there, so the script `prepack` replaces it and `postpack` restores it.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = join(import.meta.dir, '../package.json')
const WHOLE = join(import.meta.dir, '../dist/package.json.whole')
const FOR_CHECKOUTS = ['scripts', 'devDependencies', 'workspaces', 'overrides', 'allowScripts']

function reduce(): void {
  // One that is left over from a pack that was interrupted.
  restore()
  copyFileSync(MANIFEST, WHOLE)
  const whole = JSON.parse(readFileSync(MANIFEST, 'utf8')) as Record<string, unknown>
  const entries = Object.entries(whole).filter(([name]) => !FOR_CHECKOUTS.includes(name))
  writeFileSync(MANIFEST, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}

function restore(): void {
  if (existsSync(WHOLE)) renameSync(WHOLE, MANIFEST)
}

if (process.argv[2] === 'restore') restore()
else reduce()
