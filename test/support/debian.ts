/** Programs that tests need from the system: found, or installed where that is one command. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Where Debian looks whether a package may start its service. */
const POLICY = '/usr/sbin/policy-rc.d'
const SUPERUSERS_FOLDERS = '/usr/local/sbin:/usr/sbin:/sbin'

export interface Wanted {
  /** The program goes by one of these names. */
  readonly names: readonly string[]
  /** One or more, separated by spaces. */
  readonly package: string
  /** What is skipped without it. */
  readonly skipped: string
}

/** Their paths, in the same order; as root on Debian they are installed if they are missing. One that is not there is said loudly. */
export async function findPrograms(wanted: readonly Wanted[]): Promise<(string | undefined)[]> {
  const isRootOnDebian = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  const missing = wanted.filter(each => pathOf(each) === undefined)
  if (missing.length > 0 && isRootOnDebian) {
    const packages = missing.flatMap(each => each.package.split(' '))
    process.stderr.write(`installing ${packages.join(', ')} with apt-get; this may take a minute\n`)
    await install(packages)
  }
  return wanted.map(each => {
    const path = pathOf(each)
    if (path === undefined) {
      process.stderr.write(`\n!!! SKIPPED: ${each.skipped}. Install the package ${each.package}.\n\n`)
    }
    return path
  })
}

function pathOf({ names }: Wanted): string | undefined {
  const PATH = `${process.env.PATH}:${SUPERUSERS_FOLDERS}`
  return names.map(name => Bun.which(name, { PATH })).find(path => path !== null) ?? undefined
}

/** Only the programs are wanted: their services would take ports. */
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
