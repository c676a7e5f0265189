import { MAX_SECRET_FILE } from '../kit/small-file.ts'
import type { WrittenEntry } from './archive.ts'

/** Counted up when an older program could no longer read what a newer one writes. */
export const FORMAT = 1
export const STORE_FILE = 'strand.db'
export const MANIFEST_FILE = 'manifest.json'
export const CHECKSUM_FILE = 'SHA256SUMS'
/** The secrets of a data folder; sealed with a passphrase they have another ending. */
export const SECRET_FILES = ['master-keys', 'operator-token'] as const
export type SecretFile = (typeof SECRET_FILES)[number]
export const sealedName = (name: string) => `${name}.sealed`

const KIB = 1024
/**
 * How large an entry may be, by name. All but the store are held in memory; how large that may be is for the manifest and the
 * disk to say.
 */
export const MAX_ENTRIES: ReadonlyMap<string, number> = new Map([
  [STORE_FILE, Number.MAX_SAFE_INTEGER],
  ...SECRET_FILES.flatMap(
    name =>
      [
        [name, MAX_SECRET_FILE],
        // Base64 takes a third more, and there is a line above it.
        [sealedName(name), 2 * MAX_SECRET_FILE],
      ] as const,
  ),
  [MANIFEST_FILE, 256 * KIB],
  [CHECKSUM_FILE, 4 * KIB],
])

/** What a backup says about itself. */
export interface Manifest {
  readonly format: number
  readonly strand_version: string
  readonly schema_version: number
  readonly created_at: string
  /** The last entry of the feed that is in it. */
  readonly feed_seq: number
  readonly secrets: 'plain' | 'sealed'
  /** The master keys without which its stream keys cannot be read, and whether they are in it. */
  readonly master_keys: { readonly included: boolean; readonly needed: readonly string[] }
  readonly files: readonly WrittenEntry[]
  /** How many rows each table has. */
  readonly rows: Readonly<Record<string, number>>
}

/** Undefined if the text is not a manifest. Of one in a newer format only the format can be told. */
export function readManifest(text: string): Manifest | { readonly format: number } | undefined {
  let value: Manifest
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isWhole(value?.format)) return undefined
  if (value.format > FORMAT) return { format: value.format }
  return hasEverything(value) ? value : undefined
}

/** Texts of a manifest are shown to people: none may hold more, or other characters, than a backup of ours would. */
const VERSION_PATTERN = /^[0-9A-Za-z.+-]{1,64}$/
const TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const KEY_ID_PATTERN = /^[A-Za-z0-9-]{1,32}$/
const TABLE_PATTERN = /^[A-Za-z0-9_]{1,64}$/
const SHA256_PATTERN = /^[0-9a-f]{64}$/
const MAX_MASTER_KEYS = 1000
const MAX_TABLES = 1000

function hasEverything(manifest: Manifest): boolean {
  const { strand_version, schema_version, created_at, feed_seq, secrets, master_keys, files, rows } = manifest
  return (
    isText(strand_version, VERSION_PATTERN) &&
    isWhole(schema_version) &&
    isText(created_at, TIMESTAMP_PATTERN) &&
    !Number.isNaN(Date.parse(created_at)) &&
    isWhole(feed_seq) &&
    (secrets === 'plain' || secrets === 'sealed') &&
    typeof master_keys?.included === 'boolean' &&
    isListOf(master_keys.needed, MAX_MASTER_KEYS, id => isText(id, KEY_ID_PATTERN)) &&
    isListOf(files, MAX_ENTRIES.size, isFile) &&
    typeof rows === 'object' &&
    rows !== null &&
    isListOf(Object.keys(rows), MAX_TABLES, name => isText(name, TABLE_PATTERN)) &&
    Object.values(rows).every(isWhole)
  )
}

function isFile(file: WrittenEntry | null): boolean {
  return (
    typeof file?.name === 'string' &&
    file.size <= (MAX_ENTRIES.get(file.name) ?? -1) &&
    isWhole(file.size) &&
    isText(file.sha256, SHA256_PATTERN)
  )
}

function isListOf<T>(value: readonly T[], most: number, is: (item: T) => boolean): boolean {
  return Array.isArray(value) && value.length <= most && value.every(is)
}

const isText = (value: unknown, shape: RegExp) => typeof value === 'string' && shape.test(value)

const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

/** The form that `sha256sum --check` reads. */
export function checksumsOf(entries: readonly WrittenEntry[]): string {
  return entries.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
}
