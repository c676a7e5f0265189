/** The profiles of this user: servers with the operator token for each, in a file that only the user can read. */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { environment } from '../../config/config.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_INPUT_FILE, readSmallFile } from '../../kit/small-file.ts'

export interface Profile {
  readonly name: string
  /** Of the operator listener. */
  readonly url: string
  readonly token: string
}

interface Profiles {
  /** The profile that commands use unless another server or store is given. */
  readonly current: string | undefined
  readonly profiles: readonly Profile[]
}

/** In the configuration folder of the user: XDG_CONFIG_HOME, by default ~/.config. A relative value has no effect. */
export function profileFile(given: typeof environment = environment): string {
  const { XDG_CONFIG_HOME = '' } = given
  const folder = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(homedir(), '.config')
  return join(folder, 'strand', 'profiles.json')
}

export function readProfiles(file = profileFile()): Profiles {
  let text: string
  try {
    requirePrivate(file)
    text = readSmallFile(file, MAX_INPUT_FILE)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return { current: undefined, profiles: [] }
    throw error
  }
  const read = parse(text)
  if (read === undefined) throw new OperatorError(`the file ${file} is damaged: delete it and log in again`)
  return read
}

/** Another user who could read the file could act as an operator. */
function requirePrivate(file: string): void {
  const { mode } = statSync(file)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    const shown = (mode & 0o777).toString(8)
    throw new OperatorError(`${file} has the mode ${shown}, so others can use it: run chmod 600 ${file}`)
  }
}

function parse(text: string): Profiles | undefined {
  try {
    const { current, profiles } = JSON.parse(text) as { current?: unknown; profiles: unknown[] }
    const isValid = profiles.every(each => {
      const { name, url, token } = each as Record<string, unknown>
      return [name, url, token].every(value => typeof value === 'string' && value !== '')
    })
    if (!isValid || (current !== undefined && typeof current !== 'string')) return undefined
    return { current, profiles: profiles as Profile[] }
  } catch {
    return undefined
  }
}

/** Replaces the file atomically. It is created with its mode, so that it is never readable by others. */
export function writeProfiles(profiles: Profiles, file = profileFile()): void {
  const unfinished = `${file}.${process.pid}`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // A file of an earlier process with this id, or a link that leads elsewhere.
    if (lstatSync(unfinished, { throwIfNoEntry: false }) !== undefined) rmSync(unfinished)
    const handle = openSync(unfinished, 'wx', 0o600)
    try {
      writeFileSync(handle, `${JSON.stringify(profiles, null, 2)}\n`)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw new OperatorError(`cannot write ${file}: ${(error as Error).message}`)
  }
}

/** The profile with this name. Throws if there is none. */
export function profileNamed(name: string, { profiles } = readProfiles()): Profile {
  const found = profiles.find(profile => profile.name === name)
  if (found !== undefined) return found
  const known = profiles.length === 0 ? 'there are none' : profiles.map(each => each.name).join(', ')
  throw new OperatorError(
    `no profile "${name}" (${known}): create it with strand login <url> --profile ${name}`,
  )
}

/** The current profile; undefined if there is none. */
export function currentProfile(): Profile | undefined {
  const all = readProfiles()
  return all.profiles.find(({ name }) => name === all.current)
}
