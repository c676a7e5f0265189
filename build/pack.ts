import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyInstalledCheckout } from './copied-checkout.ts'

/** In the folder of a run: where the packages are built, and where their tarballs are. */
export function packingFolders(run: string): { readonly checkout: string; readonly tarballs: string } {
  return { checkout: join(run, 'packed-checkout'), tarballs: join(run, 'packed') }
}

/**
 * Packs both packages as npm publishes them, in a copy of the checkout that is gone when they are used: nothing in them may
 * need the folder that they were built in.
 */
export async function packPackages(run: string): Promise<void> {
  const { checkout, tarballs } = packingFolders(run)
  const unfinished = `${tarballs}.unfinished`
  mkdirSync(unfinished, { recursive: true })
  copyInstalledCheckout(checkout)
  const npmPack = ['npm', 'pack', '--pack-destination', unfinished]
  await execute(npmPack, checkout)
  // The first one has built both: of the scripts of the second, only the one that reduces its package.json is left.
  await execute([process.execPath, 'build/packed-manifest.ts', 'packages/client'], checkout)
  await execute([...npmPack, '--ignore-scripts'], join(checkout, 'packages/client'))
  rmSync(checkout, { recursive: true })
  renameSync(unfinished, tarballs)
}

/** Runs a command, and throws what it prints if it fails. */
export async function execute(words: readonly string[], cwd: string): Promise<string> {
  const child = Bun.spawn([...words], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}
