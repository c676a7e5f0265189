/** A real browser for the tests of pages: the system's chromium, driven by playwright-core. */
import { existsSync } from 'node:fs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'] as const

/** The path of a browser; as root on Debian it is installed if it is missing. Undefined, and said loudly, if there is none. */
export async function findChromium(): Promise<string | undefined> {
  const isRootOnDebian = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (installed() === undefined && isRootOnDebian) {
    process.stderr.write('chromium is missing; installing it with apt-get (about a minute)\n')
    for (const words of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
      await Bun.spawn(['apt-get', ...words], { stdout: 'ignore', stderr: 'inherit' }).exited
    }
  }
  const path = installed()
  if (path === undefined) {
    process.stderr.write(
      '\n!!! SKIPPED: every test in a browser. There is no chromium: install the package chromium.\n\n',
    )
  }
  return path
}

function installed(): string | undefined {
  for (const name of NAMES) {
    const path = Bun.which(name)
    if (path !== null) return path
  }
  return undefined
}
