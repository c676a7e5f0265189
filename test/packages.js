/**
 * Installs the packages that tests and checks need, unless they are there. `npm install` leaves them out, also when it
 * installs Strand from a git URL: the build does not need them.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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
  const { status } = spawnSync('npm', ['install', '--workspaces', '--include-workspace-root'], {
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  process.exit(status ?? 1)
}
