import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../kit/operator-error.ts'
import { SCHEMA_VERSION, STORE_HEADER_BYTES, sizeInHeader } from '../store/embedded-file.ts'
import { ArchiveReader, damaged, type WrittenEntry } from './archive.ts'
import { requireFreeSpace } from './free-space.ts'
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
  /** Created for this, and removed again if the backup is not whole. */
  readonly folder: string
  /** Called if the secrets are sealed. */
  passphrase(): Promise<string | undefined>
  /** Whether sealed secrets may be left out where there is no passphrase. */
  readonly mayLeaveSealed: boolean
  onProgress(bytes: number, of: number): void
}

/**
 * Unpacks a backup into a folder, onto the disk, and checks every byte of it. A backup may come from anywhere, so nothing in
 * it is trusted: what is held in memory is bounded by name, and the sizes of the store in the archive, in the manifest and in
 * the store itself must agree before any of it is read.
 */
export async function unpackBackup(options: UnpackOptions): Promise<Manifest> {
  const archive = await ArchiveReader.open(options.file)
  mkdirSync(options.folder, { mode: 0o700 })
  try {
    const manifest = await manifestOf(archive, options.file)
    const passphrase = await passphraseFor(manifest, options)
    await requirePlausibleStore(archive, options.file)
    const total = archive.entries.reduce((sum, { size }) => sum + size, 0)
    requireFreeSpace(
      options.folder,
      total,
      'unpacking the backup',
      'use a folder on another disk (verify unpacks into TMPDIR)',
    )
    const written = await unpackEntries(archive, manifest, options, passphrase, total)
    if (checksumsOf(written) !== (await textOf(archive, options.file, CHECKSUM_FILE))) {
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

/** The manifest of a backup that this program can read, checked against the archive. The store is not read yet. */
async function manifestOf(archive: ArchiveReader, file: string): Promise<Manifest> {
  for (const { name, size } of archive.entries) {
    const largest = MAX_ENTRIES.get(name)
    if (largest === undefined) throw damaged(file, `it holds ${name}, which is no part of a backup`)
    if (size > largest) throw damaged(file, `${name} has ${size} bytes, and ${largest} is the most`)
  }
  const manifest = readManifest(await textOf(archive, file, MANIFEST_FILE))
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

async function textOf(archive: ArchiveReader, file: string, name: string): Promise<string> {
  const entry = archive.find(name)
  if (entry === undefined) throw damaged(file, `it has no ${name}`)
  return archive.text(entry)
}

/** The first bytes of a store hold its size: gigabytes of zeros are found without reading them. */
async function requirePlausibleStore(archive: ArchiveReader, file: string): Promise<void> {
  const entry = archive.find(STORE_FILE)
  if (entry === undefined) throw damaged(file, `it has no ${STORE_FILE}`)
  const said = sizeInHeader(await archive.start(entry, STORE_HEADER_BYTES))
  if (said !== entry.size) {
    const why = said === undefined ? 'it is no store' : `it says that it has ${said} bytes`
    throw damaged(file, `${STORE_FILE} was altered: it has ${entry.size} bytes, and ${why}`)
  }
}

async function unpackEntries(
  archive: ArchiveReader,
  { created_at, files }: Manifest,
  options: UnpackOptions,
  passphrase: string | undefined,
  total: number,
): Promise<WrittenEntry[]> {
  const { file, folder, onProgress } = options
  const written: WrittenEntry[] = []
  let done = 0
  for (const entry of archive.entries) {
    const { name, size } = entry
    const pieces: Uint8Array[] = []
    const store = name === STORE_FILE ? await open(join(folder, name), 'wx', 0o600) : undefined
    try {
      const sha256 = await archive.read(entry, Date.parse(created_at), async piece => {
        if (store === undefined) pieces.push(piece)
        else await store.writeFile(piece)
        done += piece.length
        onProgress(done, total)
      })
      await store?.sync()
      const declared = files.find(each => each.name === name)
      if (declared !== undefined && declared.sha256 !== sha256) throw damaged(file, `${name} was altered`)
      if (name !== CHECKSUM_FILE) written.push({ name, size, sha256 })
    } finally {
      await store?.close()
    }
    // After the checksum: opening a sealed secret takes memory and time, which an altered backup is not worth.
    const secret = SECRET_FILES.find(each => name === each || name === sealedName(each))
    if (secret === undefined) continue
    const text = Buffer.concat(pieces).toString('utf8')
    const opened = name === secret ? text : openSecret(text, secret, file, passphrase)
    if (opened !== undefined)
      writeFileSync(join(folder, secret), opened, { flag: 'wx', mode: 0o600, flush: true })
  }
  return written
}

/** Undefined without a passphrase: sealed secrets may be left out. */
function openSecret(sealed: string, secret: string, file: string, passphrase: string | undefined) {
  if (passphrase === undefined) return undefined
  const opened = openWithPassphrase(sealed, secret, passphrase)
  if (opened !== undefined) return opened
  throw new OperatorError(
    `the passphrase does not open ${sealedName(secret)} of ${file}: it is another one, or the file was altered`,
  )
}
