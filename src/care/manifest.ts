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

function hasEverything({ schema_version, created_at, secrets, master_keys, files, rows }: Manifest): boolean {
  return (
    isWhole(schema_version) &&
    !Number.isNaN(Date.parse(created_at)) &&
    (secrets === 'plain' || secrets === 'sealed') &&
    Array.isArray(master_keys?.needed) &&
    Array.isArray(files) &&
    files.every(file => typeof file?.name === 'string' && isWhole(file.size)) &&
    typeof rows === 'object'
  )
}

const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

/** The form that `sha256sum --check` reads. */
export function checksumsOf(entries: readonly WrittenEntry[]): string {
  return entries.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('')
}
