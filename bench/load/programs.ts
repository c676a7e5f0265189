/** What processes run that is not in the repository as it runs. */
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = '26.10.0'
const FASTIFY = '5.12.8'

/**
 * The package as users have it. A checkout runs its sources, so measurements run from this folder: the launcher, the bundle
 * and the test harness, without the sources.
 */
export function makePackageFolder(folder: string): void {
  run([process.execPath, 'build/package.ts'], ROOT)
  for (const name of ['bin', 'dist/program', 'dist/testing', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

/** A current Node and Fastify for the usual server, installed on first use. Gives the folder of packages and the file of Node. */
export function installUsualModules(): { modules: string; node: string } {
  const folder = join(tmpdir(), `strand-bench-node-${NODE}-fastify-${FASTIFY}`)
  const nodePackage = `node-${platform()}-${arch()}`
  const node = join(folder, 'node_modules', nodePackage, 'bin/node')
  if (!existsSync(join(folder, 'node_modules/fastify/package.json')) || !existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    const dependencies = { fastify: FASTIFY, [nodePackage]: NODE }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
    run(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], folder)
  }
  return { modules: `${folder}/`, node }
}

function run(words: string[], cwd: string): void {
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd })
  if (exitCode !== 0) throw new Error(`${words.slice(0, 2).join(' ')} failed: ${stderr}`)
}
