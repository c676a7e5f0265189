/** The packages as npm packs them. Packing builds `dist`, so the files of a test run share the tarballs. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/version.ts'
import { ROOT } from './strand-process.ts'

/** The folder of each package. The script of the first one builds both. */
const PACKAGES = [[ROOT], [join(ROOT, 'packages/client'), '--ignore-scripts']] as const

const run = process.env.TEST_FOLDER ?? mkdtempSync(join(tmpdir(), 'strand-packed-'))
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
  for (const [cwd, ...options] of PACKAGES) {
    const npm = Bun.spawn(['npm', 'pack', ...options, '--pack-destination', folder], {
      cwd,
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const stderr = await new Response(npm.stderr).text()
    if ((await npm.exited) !== 0) return writeFileSync(failure, stderr)
  }
  renameSync(folder, packed)
}
