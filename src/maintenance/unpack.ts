import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../kit/operator-error.ts'
import { SCHEMA_VERSION, STORE_HEADER_BYTES, sizeInHeader } from '../store/embedded-file.ts'
import { ArchiveReader, damaged, type FoundEntry, type WrittenEntry } from './archive.ts'
import {
  CHECKSUM_FILE,
  checksumsOf,
  MANIFEST_FILE,
  MAX_ENTRIES,
  type Manifest,
  readManifest,
  SECRET_FILES,
  STORE_FILE,
  sealedName,
} from './manifest.ts'
import { openWithPassphrase } from './passphrase.ts'

export interface UnpackOptions {
  readonly file: string
  /** Made for this; it is removed again if the backup is not whole. */
  readonly folder: string
  /** Asked for once it is known that the secrets are sealed. */
  passphrase(): Promise<string | undefined>
  /** Whether sealed secrets may stay behind where there is no passphrase. */
  readonly mayLeaveSealed: boolean
  onProgress(bytes: number, of: number): void
}

/**
 * Unpacks a backup into a folder, onto the disk, and checks every byte of it; throws a sentence if one is not as it was. A
 * backup may come from anywhere, so nothing in it is believed: what is held in memory is small by its kind, and the sizes of
 * the store in the archive, in the manifest and in the store itself must be the same before any of it is read.
 */
export async function unpackBackup(options: UnpackOptions): Promise<Manifest> {
  const archive = await ArchiveReader.open(options.file)
  mkdirSync(options.folder, { mode: 0o700 })
  try {
    const manifest = await manifestOf(archive, options)
    const passphrase = await passphraseFor(manifest, options)
    await requirePlausibleStore(archive, options.file)
    requireSpace(archive, options.folder)
    const written = await unpackEntries(archive, manifest, { ...options, passphrase })
    if (checksumsOf(written) !== (await smallEntry(archive, options.file, CHECKSUM_FILE))) {
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
async function manifestOf(archive: ArchiveReader, { file }: UnpackOptions): Promise<Manifest> {
  for (const { name, size } of archive.entries) {
    const largest = MAX_ENTRIES.get(name)
    if (largest === undefined) throw damaged(file, `it holds ${name}, which is no part of a backup`)
    if (size > largest) throw damaged(file, `${name} has ${size} bytes, and ${largest} is the most`)
  }
  const manifest = readManifest(await smallEntry(archive, file, MANIFEST_FILE))
  if (manifest === undefined) throw damaged(file, `its ${MANIFEST_FILE} cannot be read`)
  if (!('files' in manifest)) {
    throw new OperatorError(
      `${file} was made by a newer Strand, in format ${manifest.format}: restore it with that`,
    )
  }
  if (manifest.schema_version > SCHEMA_VERSION) {
    throw new OperatorError(
      `${file} has schema ${manifest.schema_version} and this program knows ${SCHEMA_VERSION}: restore it with a newer Strand`,
    )
  }
  const expected = [...manifest.files.map(each => each.name), MANIFEST_FILE, CHECKSUM_FILE]
  const found = archive.entries.map(each => each.name)
  if (found.join('/') !== expected.join('/')) {
    throw damaged(file, `it holds ${found.join(', ')} and should hold ${expected.join(', ')}`)
  }
  for (const { name, size } of manifest.files) {
    if (archive.find(name)?.size !== size)
      throw damaged(file, `${name} was altered: it should have ${size} bytes`)
  }
  return manifest
}

async function passphraseFor(
  { secrets }: Manifest,
  { file, mayLeaveSealed, passphrase }: UnpackOptions,
): Promise<string | undefined> {
  const found = secrets === 'sealed' ? await passphrase() : undefined
  if (secrets !== 'sealed' || found !== undefined || mayLeaveSealed) return found
  throw new OperatorError(
    `the secrets in ${file} are sealed with a passphrase: give it with --passphrase-file or STRAND_BACKUP_PASSPHRASE`,
  )
}

/** The same options, with the passphrase if there is one. */
type OpeningOptions = Omit<UnpackOptions, 'passphrase'> & { readonly passphrase: string | undefined }

async function smallEntry(archive: ArchiveReader, file: string, name: string): Promise<string> {
  const entry = archive.find(name)
  if (entry === undefined) throw damaged(file, `it has no ${name}`)
  return archive.text(entry)
}

/** A store says in its first bytes how large it is: gigabytes of nothing are found without reading them. */
async function requirePlausibleStore(archive: ArchiveReader, file: string): Promise<void> {
  const entry = archive.find(STORE_FILE)
  if (entry === undefined) throw damaged(file, `it has no ${STORE_FILE}`)
  const said = sizeInHeader(await archive.start(entry, STORE_HEADER_BYTES))
  if (said !== entry.size) {
    const why = said === undefined ? 'it is no store' : `it says that it has ${said} bytes`
    throw damaged(file, `${STORE_FILE} was altered: it has ${entry.size} bytes, and ${why}`)
  }
}

function requireSpace(archive: ArchiveReader, folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const needed = archive.entries.reduce((sum, { size }) => sum + size, 0)
  if (bavail * bsize >= needed) return
  throw new OperatorError(
    `${folder} has ${megabytes(bavail * bsize)} MB free and unpacking the backup needs ${megabytes(needed)} MB: free some, or use a folder on another disk (verify unpacks into TMPDIR)`,
  )
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1e6)

async function unpackEntries(
  archive: ArchiveReader,
  manifest: Manifest,
  options: OpeningOptions,
): Promise<WrittenEntry[]> {
  const moment = Date.parse(manifest.created_at)
  const total = archive.entries.reduce((sum, { size }) => sum + size, 0)
  const written: WrittenEntry[] = []
  let done = 0
  for (const entry of archive.entries) {
    const { name, size } = entry
    const { sha256, conclude } = await unpackEntry(archive, entry, moment, options, bytes =>
      options.onProgress(done + bytes, total),
    )
    const declared = manifest.files.find(each => each.name === name)
    if (declared !== undefined && declared.sha256 !== sha256)
      throw damaged(options.file, `${name} was altered`)
    await conclude()
    done += size
    if (name !== CHECKSUM_FILE) written.push({ name, size, sha256 })
  }
  return written
}

interface UnpackedEntry {
  readonly sha256: string
  /** What is left to do once the checksum is known to be right. */
  conclude(): Promise<void>
}

async function unpackEntry(
  archive: ArchiveReader,
  entry: FoundEntry,
  moment: number,
  options: OpeningOptions,
  onBytes: (bytes: number) => void,
): Promise<UnpackedEntry> {
  const { name } = entry
  const nothing = async () => undefined
  const secret = SECRET_FILES.find(each => name === each || name === sealedName(each))
  if (secret !== undefined) return unpackSecret(archive, entry, moment, secret, options)
  if (name !== STORE_FILE) {
    return { sha256: await archive.read(entry, moment, () => undefined), conclude: nothing }
  }
  const file = await open(join(options.folder, name), 'wx', 0o600)
  try {
    let bytes = 0
    const sha256 = await archive.read(entry, moment, async piece => {
      await file.writeFile(piece)
      bytes += piece.length
      onBytes(bytes)
    })
    await file.sync()
    return { sha256, conclude: nothing }
  } finally {
    await file.close()
  }
}

/** A sealed one is opened last: the passphrase costs memory and time, which an altered backup is not worth. */
async function unpackSecret(
  archive: ArchiveReader,
  entry: FoundEntry,
  moment: number,
  secret: string,
  options: OpeningOptions,
): Promise<UnpackedEntry> {
  const pieces: Uint8Array[] = []
  const sha256 = await archive.read(entry, moment, piece => {
    pieces.push(piece)
  })
  const text = Buffer.concat(pieces).toString('utf8')
  const conclude = async () => {
    const opened = entry.name === secret ? text : openSecret(text, secret, entry, options)
    if (opened !== undefined) await writeSecret(join(options.folder, secret), opened)
  }
  return { sha256, conclude }
}

/** Undefined if there is no passphrase, and sealed secrets may stay behind. */
function openSecret(
  sealed: string,
  secret: string,
  { name }: FoundEntry,
  { file, passphrase }: OpeningOptions,
): string | undefined {
  if (passphrase === undefined) return undefined
  const opened = openWithPassphrase(sealed, secret, passphrase)
  if (opened !== undefined) return opened
  throw new OperatorError(
    `the passphrase does not open ${name} of ${file}: it is another one, or the file was altered`,
  )
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
