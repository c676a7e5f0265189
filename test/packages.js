/**
 * Installs the packages that tests and checks need, unless they are there. `npm install` leaves them out, also when it
 * installs Strand from a git URL: the build does not need them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const read = file => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))

function isInstalled([name, version]) {
  try {
    return read(`../node_modules/${name}/package.json`).version === version
  } catch {
    return false
  }
}

if (!Object.entries(read('package.json').devDependencies).every(isInstalled)) {
  process.stderr.write('installing the packages of test/package.json\n')
  // npm prepares the repository after every installation: what was built a moment ago need not be built again.
  const isBuilt = existsSync(new URL('../dist', import.meta.url))
  const { status } = spawnSync('npm', ['install', '--workspaces', '--include-workspace-root'], {
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...(isBuilt && { STRAND_IS_BUILT: 'true' }) },
    shell: process.platform === 'win32',
  })
  process.exit(status ?? 1)
}
