/** Real proxies for the tests of deploy/: the system's nginx and HAProxy. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'

const PACKAGES = { nginx: 'nginx-light', haproxy: 'haproxy' } as const

export type ProxyName = keyof typeof PACKAGES
export const PROXIES = Object.keys(PACKAGES) as ProxyName[]

/** Where Debian looks whether a package may start its service. */
const POLICY = '/usr/sbin/policy-rc.d'
const SUPERUSERS_FOLDERS = '/usr/local/sbin:/usr/sbin:/sbin'

/** The paths of the proxies; as root on Debian they are installed if they are missing. One that is not there is said loudly. */
export async function findProxies(): Promise<Partial<Record<ProxyName, string>>> {
  const isRootOnDebian = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  const missing = PROXIES.filter(name => installed(name) === undefined)
  if (missing.length > 0 && isRootOnDebian) {
    process.stderr.write(`${missing.join(' and ')} missing; installing with apt-get\n`)
    await install(missing.map(name => PACKAGES[name]))
  }
  const found: Partial<Record<ProxyName, string>> = {}
  for (const name of PROXIES) {
    const path = installed(name)
    if (path !== undefined) found[name] = path
    else {
      process.stderr.write(
        `\n!!! SKIPPED: every test behind ${name}. It is not there: install the package ${PACKAGES[name]}.\n\n`,
      )
    }
  }
  return found
}

/** Only the programs are wanted: their services would take the ports 80. */
async function install(packages: readonly string[]): Promise<void> {
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    for (const words of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
      await Bun.spawn(['apt-get', ...words], { stdout: 'ignore', stderr: 'inherit' }).exited
    }
  } finally {
    if (isOurs) rmSync(POLICY)
  }
}

function installed(name: ProxyName): string | undefined {
  return Bun.which(name, { PATH: `${process.env.PATH}:${SUPERUSERS_FOLDERS}` }) ?? undefined
}
