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
/** The secrets of a data folder; sealed with a passphrase they have another ending. */
export const SECRET_FILES = ['master-keys', 'operator-token'] as const
export type SecretFile = (typeof SECRET_FILES)[number]
export const sealedName = (name: string) => `${name}.sealed`

const KIB = 1024
/** How large an entry may be, by name. All but the store are held in memory; the size of the store is up to the manifest. */
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

/** Texts of a manifest are shown to people: none may be longer, or hold other characters, than in a backup of ours. */
const text = (pattern: string) => Type.String({ pattern: `^${pattern}$` })
const whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** What a backup says about itself. */
const Manifest = Type.Object({
  format: whole,
  strand_version: text('[0-9A-Za-z.+-]{1,64}'),
  schema_version: whole,
  created_at: text('\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z'),
  /** The last entry of the feed that is in it. */
  feed_seq: whole,
  secrets: Type.Enum(['plain', 'sealed']),
  /** The master keys without which its stream keys cannot be read, and whether they are in it. */
  master_keys: Type.Object({
    included: Type.Boolean(),
    needed: Type.Array(text('[A-Za-z0-9-]{1,32}'), { maxItems: 1000 }),
  }),
  files: Type.Array(Type.Object({ name: Type.String(), size: whole, sha256: text('[0-9a-f]{64}') }), {
    maxItems: MAX_ENTRIES.size,
  }),
  /** How many rows each table has. */
  rows: Type.Record(Type.String(), whole, {
    maxProperties: 1000,
    propertyNames: { pattern: '^[A-Za-z0-9_]{1,64}$' },
  }),
})

export type Manifest = Static<typeof Manifest>

/** Undefined if the text is not a manifest. Of one in a newer format only the format is read. */
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

/** The form that `sha256sum --check` reads. */
export function checksumsOf(entries: readonly WrittenEntry[]): string {
  return entries.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
}
