/**
 * The package as users have it. A checkout runs its sources, so measurements run from this folder: the launcher, the bundle
 * and the test harness, without the sources.
 */
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export function makePackageFolder(folder: string): void {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'build/package.ts'], { cwd: ROOT })
  if (exitCode !== 0) throw new Error(`the package could not be built: ${stderr}`)
  for (const name of ['bin', 'dist/program', 'dist/testing', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}
