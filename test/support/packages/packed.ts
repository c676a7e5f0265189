/**
 * The packages as npm packs them, from a copy of the checkout that is gone when they are used: nothing in them may need the
 * folder that they were built in. The files of a test run share the tarballs.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../../src/config/version.ts'
import { copyInstalledCheckout } from './copied-checkout.ts'

/** The folder of each package in the checkout. The script of the first one builds both. */
const PACKAGES = [['.'], ['packages/client', '--ignore-scripts']] as const

const run = process.env.TEST_FOLDER ?? mkdtempSync(join(tmpdir(), 'strand-packed-'))
/** Where they are built. */
export const BUILD_FOLDER: string = join(run, 'packed-checkout')
const packed = join(run, 'packed')
const failure = join(run, 'packing-failure')

/** The path of a tarball. The first file that asks packs them, others wait. */
export async function packedTarball(name: 'strand' | 'strand-client' = 'strand'): Promise<string> {
  if (isFirst()) await pack(join(run, 'packing'))
  while (!existsSync(packed)) {
    if (existsSync(failure)) throw new Error(await Bun.file(failure).text())
    await Bun.sleep(50)
  }
  return join(packed, `${name}-${VERSION}.tgz`)
}

function isFirst(): boolean {
  try {
    mkdirSync(join(run, 'packing-lock'))
    return true
  } catch {
    return false
  }
}

async function pack(folder: string): Promise<void> {
  mkdirSync(folder)
  copyInstalledCheckout(BUILD_FOLDER)
  for (const [place, ...options] of PACKAGES) {
    const npm = Bun.spawn(['npm', 'pack', ...options, '--pack-destination', folder], {
      cwd: join(BUILD_FOLDER, place),
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const stderr = await new Response(npm.stderr).text()
    if ((await npm.exited) !== 0) return writeFileSync(failure, stderr)
  }
  rmSync(BUILD_FOLDER, { recursive: true })
  renameSync(folder, packed)
}
