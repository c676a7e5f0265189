import type { Static } from 'typebox'
import { Compile } from 'typebox/schema'
import { Type } from '../contract/schema.ts'
import { MAX_SECRET_FILE } from '../kit/small-file.ts'
import type { WrittenEntry } from './archive.ts'

/** Incremented when older programs can no longer read what newer ones write. */
export const FORMAT = 1
export const STORE_FILE = 'strand.db'
export const MANIFEST_FILE = 'manifest.json'
export const CHECKSUM_FILE = 'SHA256SUMS'
/** The secrets of a data folder. Sealed with a passphrase, they have the name of `sealedName`. */
export const SECRET_FILES = ['master-keys', 'operator-token'] as const
export type SecretFile = (typeof SECRET_FILES)[number]
export const sealedName = (name: string) => `${name}.sealed`

const KIB = 1024
/** The maximum size of each entry. All but the store are read into memory; the manifest has the size of the store. */
export const MAX_ENTRIES: ReadonlyMap<string, number> = new Map([
  [STORE_FILE, Number.MAX_SAFE_INTEGER],
  ...SECRET_FILES.flatMap(
    name =>
      [
        [name, MAX_SECRET_FILE],
        // Base64 takes a third more, and there is a header line.
        [sealedName(name), 2 * MAX_SECRET_FILE],
      ] as const,
  ),
  [MANIFEST_FILE, 256 * KIB],
  [CHECKSUM_FILE, 4 * KIB],
])

/** Strings of a manifest are printed, so their length and characters are limited to what Strand writes. */
const text = (pattern: string) => Type.String({ pattern: `^${pattern}$` })
const whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The description of a backup. */
const Manifest = Type.Object({
  format: whole,
  strand_version: text('[0-9A-Za-z.+-]{1,64}'),
  schema_version: whole,
  created_at: text('\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z'),
  /** The last feed entry in the backup. */
  feed_seq: whole,
  secrets: Type.Enum(['plain', 'sealed']),
  /** The master keys that its stream keys are sealed with, and whether the backup contains them. */
  master_keys: Type.Object({
    included: Type.Boolean(),
    needed: Type.Array(text('[A-Za-z0-9-]{1,32}'), { maxItems: 1000 }),
  }),
  files: Type.Array(Type.Object({ name: Type.String(), size: whole, sha256: text('[0-9a-f]{64}') }), {
    maxItems: MAX_ENTRIES.size,
  }),
  /** The number of rows of each table. */
  rows: Type.Record(Type.String(), whole, {
    maxProperties: 1000,
    propertyNames: { pattern: '^[A-Za-z0-9_]{1,64}$' },
  }),
})

export type Manifest = Static<typeof Manifest>

/** Undefined if the text is not a manifest. For a newer format, only the format is returned. */
export function readManifest(json: string): Manifest | { readonly format: number } | undefined {
  let value: Manifest
  try {
    value = JSON.parse(json)
  } catch {
    return undefined
  }
  if (Number.isSafeInteger(value?.format) && value.format > FORMAT) return { format: value.format }
  const isManifest =
    Compile(Manifest).Check(value) &&
    !Number.isNaN(Date.parse(value.created_at)) &&
    value.files.every(({ name, size }) => size <= (MAX_ENTRIES.get(name) ?? -1))
  return isManifest ? value : undefined
}

/** In the format that `sha256sum --check` reads. */
export function formatChecksums(entries: readonly WrittenEntry[]): string {
  return entries.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
}
