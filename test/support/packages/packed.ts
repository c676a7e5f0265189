/** The packages as npm packs them. The files of a test run share the tarballs, and so do the tests of a release. */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packingFolders, packPackages } from '../../../build/pack.ts'
import { VERSION } from '../../../src/config/version.ts'

const run = process.env.TEST_FOLDER ?? mkdtempSync(join(tmpdir(), 'strand-packed-'))
const { checkout, tarballs } = packingFolders(run)
const failure = join(run, 'packing-failure')

/** Where they are built. */
export const BUILD_FOLDER: string = checkout

/** The path of a tarball. The first file that asks packs them, others wait. */
export async function packedTarball(
  name: 'strand-server' | 'strand-client' = 'strand-server',
): Promise<string> {
  if (!existsSync(tarballs) && isFirst())
    await packPackages(run).catch((error: Error) => Bun.write(failure, error.message))
  while (!existsSync(tarballs)) {
    if (existsSync(failure)) throw new Error(await Bun.file(failure).text())
    await Bun.sleep(50)
  }
  return join(tarballs, `${name}-${VERSION}.tgz`)
}

function isFirst(): boolean {
  try {
    mkdirSync(join(run, 'packing-lock'))
    return true
  } catch {
    return false
  }
}
