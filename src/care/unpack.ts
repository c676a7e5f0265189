import { mkdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { CannotStart } from '../kit/cannot-start.ts'
import { SCHEMA_VERSION } from '../store/embedded-file.ts'
import { ArchiveReader, damaged, type FoundEntry, type WrittenEntry } from './archive.ts'
import {
  CHECKSUM_FILE,
  checksumsOf,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  SECRET_FILES,
  STORE_FILE,
  sealedName,
} from './manifest.ts'
import { openWithPassphrase } from './passphrase.ts'

const LARGEST_MANIFEST = 1024 * 1024

export interface UnpackOptions {
  readonly file: string
  /** Made for this; it is removed again if the backup is not whole. */
  readonly folder: string
  readonly passphrase: string | undefined
  /** Whether sealed secrets may stay behind where there is no passphrase. */
  readonly mayLeaveSealed: boolean
  onProgress(bytes: number, of: number): void
}

/** Unpacks a backup into a folder, onto the disk, and checks every byte of it; throws a sentence if one is not as it was. */
export async function unpackBackup(options: UnpackOptions): Promise<Manifest> {
  const archive = await ArchiveReader.open(options.file)
  mkdirSync(options.folder, { mode: 0o700 })
  try {
    const manifest = await manifestOf(archive, options)
    const written = await unpackEntries(archive, manifest, options)
    if (checksumsOf(written) !== (await archive.text(CHECKSUM_FILE, LARGEST_MANIFEST))) {
      throw damaged(options.file, `its contents and its ${CHECKSUM_FILE} do not agree`)
    }
    return manifest
  } catch (error) {
    rmSync(options.folder, { recursive: true, force: true })
    throw error
  } finally {
    await archive.close()
  }
}

/** What can be told without reading the store in it: whether this program can read it at all. */
async function manifestOf(
  archive: ArchiveReader,
  { file, passphrase, mayLeaveSealed }: UnpackOptions,
): Promise<Manifest> {
  const manifest = readManifest(await archive.text(MANIFEST_FILE, LARGEST_MANIFEST))
  if (manifest === undefined) throw damaged(file, `its ${MANIFEST_FILE} cannot be read`)
  if (!('files' in manifest)) {
    throw new CannotStart(
      `${file} was made by a newer Strand, in format ${manifest.format}: restore it with that`,
    )
  }
  if (manifest.schema_version > SCHEMA_VERSION) {
    throw new CannotStart(
      `${file} has schema ${manifest.schema_version} and this program knows ${SCHEMA_VERSION}: restore it with a newer Strand`,
    )
  }
  const expected = [...manifest.files.map(each => each.name), MANIFEST_FILE, CHECKSUM_FILE]
  const allowed = [
    STORE_FILE,
    ...SECRET_FILES.flatMap(name => [name, sealedName(name)]),
    MANIFEST_FILE,
    CHECKSUM_FILE,
  ]
  const found = archive.entries.map(each => each.name)
  if (found.join('/') !== expected.join('/') || !found.every(name => allowed.includes(name))) {
    throw damaged(file, `it holds ${found.join(', ')} and should hold ${expected.join(', ')}`)
  }
  if (manifest.secrets === 'sealed' && passphrase === undefined && !mayLeaveSealed) {
    throw new CannotStart(
      `the secrets in ${file} are sealed with a passphrase: give it with --passphrase-file`,
    )
  }
  return manifest
}

async function unpackEntries(
  archive: ArchiveReader,
  manifest: Manifest,
  options: UnpackOptions,
): Promise<WrittenEntry[]> {
  const moment = Date.parse(manifest.created_at)
  const total = archive.entries.reduce((sum, { size }) => sum + size, 0)
  const written: WrittenEntry[] = []
  let done = 0
  for (const entry of archive.entries) {
    const sha256 = await unpackEntry(archive, entry, moment, options, bytes =>
      options.onProgress(done + bytes, total),
    )
    done += entry.size
    if (entry.name !== CHECKSUM_FILE) written.push({ name: entry.name, size: entry.size, sha256 })
  }
  for (const { name, size, sha256 } of manifest.files) {
    const actual = written.find(each => each.name === name)
    if (actual?.size !== size || actual.sha256 !== sha256) throw damaged(options.file, `${name} was altered`)
  }
  return written
}

async function unpackEntry(
  archive: ArchiveReader,
  entry: FoundEntry,
  moment: number,
  options: UnpackOptions,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const { name } = entry
  if (name === MANIFEST_FILE || name === CHECKSUM_FILE) return archive.read(entry, moment, () => undefined)
  const secret = SECRET_FILES.find(each => name === each || name === sealedName(each))
  if (secret !== undefined) return unpackSecret(archive, entry, moment, secret, options)
  const file = await open(join(options.folder, name), 'wx', 0o600)
  try {
    let bytes = 0
    const sha256 = await archive.read(entry, moment, async piece => {
      await file.writeFile(piece)
      bytes += piece.length
      onBytes(bytes)
    })
    await file.sync()
    return sha256
  } finally {
    await file.close()
  }
}

async function unpackSecret(
  archive: ArchiveReader,
  entry: FoundEntry,
  moment: number,
  secret: string,
  { file, folder, passphrase }: UnpackOptions,
): Promise<string> {
  const pieces: Uint8Array[] = []
  const sha256 = await archive.read(entry, moment, piece => {
    pieces.push(piece)
  })
  const text = Buffer.concat(pieces).toString('utf8')
  if (entry.name === secret) await writeSecret(join(folder, secret), text)
  else if (passphrase !== undefined) {
    const opened = openWithPassphrase(text, secret, passphrase)
    if (opened === undefined) {
      throw new CannotStart(
        `the passphrase does not open ${entry.name} of ${file}: it is another one, or the file was altered`,
      )
    }
    await writeSecret(join(folder, secret), opened)
  }
  return sha256
}

async function writeSecret(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
