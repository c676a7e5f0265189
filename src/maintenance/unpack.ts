import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../kit/operator-error.ts'
import { SCHEMA_VERSION, STORE_HEADER_BYTES, sizeInHeader } from '../store/embedded-file.ts'
import { ArchiveReader, damaged, type WrittenEntry } from './archive.ts'
import { requireFreeSpace } from './free-space.ts'
import {
  CHECKSUM_FILE,
  formatChecksums,
  MANIFEST_FILE,
  MAX_ENTRIES,
  type Manifest,
  readManifest,
  SECRET_FILES,
  STORE_FILE,
  sealedName,
} from './manifest.ts'
import { Passphrase } from './passphrase.ts'

export interface UnpackOptions {
  readonly file: string
  /** Created by this call, and removed if the backup is invalid. */
  readonly folder: string
  /** Called only if the secrets are sealed. */
  passphrase(): Promise<string | undefined>
  /** Whether to skip sealed secrets if there is no passphrase. */
  readonly mayLeaveSealed: boolean
  onProgress(bytes: number, of: number): void
}

/**
 * Unpacks a backup into a folder and checks every byte. Backups are untrusted input: each entry that is read into memory has
 * a maximum size, and the sizes of the store in the archive, in the manifest and in the store's header must agree before the
 * store is read.
 */
export async function unpackBackup(options: UnpackOptions): Promise<Manifest> {
  const archive = await ArchiveReader.open(options.file)
  mkdirSync(options.folder, { mode: 0o700 })
  try {
    const manifest = await extractManifest(archive, options.file)
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
    if (formatChecksums(written) !== (await readText(archive, options.file, CHECKSUM_FILE))) {
      throw damaged(options.file, `its contents do not match its ${CHECKSUM_FILE}`)
    }
    return manifest
  } catch (error) {
    rmSync(options.folder, { recursive: true, force: true })
    throw error
  } finally {
    await archive.close()
  }
}

/** The manifest, checked against this version of Strand and the archive. Does not read the store. */
async function extractManifest(archive: ArchiveReader, file: string): Promise<Manifest> {
  for (const { name, size } of archive.entries) {
    const largest = MAX_ENTRIES.get(name)
    if (largest === undefined) throw damaged(file, `it contains ${name}, which does not belong to a backup`)
    if (size > largest) throw damaged(file, `${name} has ${size} bytes; the maximum is ${largest}`)
  }
  const manifest = readManifest(await readText(archive, file, MANIFEST_FILE))
  if (manifest === undefined) throw damaged(file, `its ${MANIFEST_FILE} is invalid`)
  if (!('files' in manifest)) {
    throw new OperatorError(
      `${file} has the newer format ${manifest.format}: use the version of Strand that made it`,
    )
  }
  if (manifest.schema_version > SCHEMA_VERSION) {
    throw new OperatorError(
      `${file} has schema ${manifest.schema_version}, but this version of Strand supports up to ${SCHEMA_VERSION}: use a newer version`,
    )
  }
  const expected = [...manifest.files.map(each => each.name), MANIFEST_FILE, CHECKSUM_FILE]
  const found = archive.entries.map(each => each.name)
  if (found.join('/') !== expected.join('/')) {
    throw damaged(file, `it contains ${found.join(', ')} instead of ${expected.join(', ')}`)
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
): Promise<Passphrase | undefined> {
  const found = secrets === 'sealed' ? await passphrase() : undefined
  if (found !== undefined) return new Passphrase(found)
  if (secrets !== 'sealed' || mayLeaveSealed) return undefined
  throw new OperatorError(
    `the secrets in ${file} are sealed with a passphrase: give it with --passphrase-file or STRAND_BACKUP_PASSPHRASE`,
  )
}

async function readText(archive: ArchiveReader, file: string, name: string): Promise<string> {
  const entry = archive.find(name)
  if (entry === undefined) throw damaged(file, `it has no ${name}`)
  return archive.text(entry)
}

/** Compares the size in the store's header, so that gigabytes of zeros are rejected without reading them. */
async function requirePlausibleStore(archive: ArchiveReader, file: string): Promise<void> {
  const entry = archive.find(STORE_FILE)
  if (entry === undefined) throw damaged(file, `it has no ${STORE_FILE}`)
  const declared = sizeInHeader(await archive.start(entry, STORE_HEADER_BYTES))
  if (declared !== entry.size) {
    const reason = declared === undefined ? 'is not that of a store' : `declares ${declared}`
    throw damaged(file, `${STORE_FILE} was altered: it has ${entry.size} bytes, but its header ${reason}`)
  }
}

async function unpackEntries(
  archive: ArchiveReader,
  { created_at, files }: Manifest,
  options: UnpackOptions,
  passphrase: Passphrase | undefined,
  total: number,
): Promise<WrittenEntry[]> {
  const { file, folder, onProgress } = options
  const written: WrittenEntry[] = []
  let done = 0
  for (const entry of archive.entries) {
    const { name, size } = entry
    const chunks: Uint8Array[] = []
    const store = name === STORE_FILE ? await open(join(folder, name), 'wx', 0o600) : undefined
    try {
      const sha256 = await archive.read(entry, Date.parse(created_at), async chunk => {
        if (store === undefined) chunks.push(chunk)
        else await store.writeFile(chunk)
        done += chunk.length
        onProgress(done, total)
      })
      await store?.sync()
      const declared = files.find(each => each.name === name)
      if (declared !== undefined && declared.sha256 !== sha256) throw damaged(file, `${name} was altered`)
      if (name !== CHECKSUM_FILE) written.push({ name, size, sha256 })
    } finally {
      await store?.close()
    }
    // After the checksum: opening a sealed secret takes memory and time, not to be spent on an altered backup.
    const secret = SECRET_FILES.find(each => name === each || name === sealedName(each))
    if (secret === undefined) continue
    const text = Buffer.concat(chunks).toString('utf8')
    const opened = name === secret ? text : openSecret(text, secret, file, passphrase)
    if (opened !== undefined)
      writeFileSync(join(folder, secret), opened, { flag: 'wx', mode: 0o600, flush: true })
  }
  return written
}

/** Undefined without a passphrase: sealed secrets are skipped. */
function openSecret(sealed: string, secret: string, file: string, passphrase: Passphrase | undefined) {
  if (passphrase === undefined) return undefined
  const opened = passphrase.open(sealed, secret)
  if (opened !== undefined) return opened
  throw new OperatorError(
    `cannot open ${sealedName(secret)} in ${file}: the passphrase is wrong, or the file was altered`,
  )
}
