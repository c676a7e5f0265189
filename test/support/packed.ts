/** The package as npm packs it. Packing builds `dist`, so the files of a test run share one tarball. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/version.ts'
import { ROOT } from './strand-process.ts'

/** The path of the tarball; the first file that asks packs it, others wait. */
export async function packedTarball(): Promise<string> {
  const folder = join(process.env.TEST_FOLDER ?? mkdtempSync(join(tmpdir(), 'strand-packed-')), 'packed')
  const tarball = join(folder, `strand-${VERSION}.tgz`)
  const failure = join(folder, 'failure')
  if (isFirst(folder)) await pack(folder, tarball, failure)
  while (!existsSync(tarball)) {
    if (existsSync(failure)) throw new Error(await Bun.file(failure).text())
    await Bun.sleep(50)
  }
  return tarball
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

async function pack(folder: string, tarball: string, failure: string): Promise<void> {
  const unfinished = join(folder, 'unfinished')
  mkdirSync(unfinished)
  const npm = Bun.spawn(['npm', 'pack', '--pack-destination', unfinished], {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const stderr = await new Response(npm.stderr).text()
  if ((await npm.exited) === 0) renameSync(join(unfinished, `strand-${VERSION}.tgz`), tarball)
  else writeFileSync(failure, stderr)
}
