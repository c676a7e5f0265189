/**
 * Which password hashes are compared at all. A hash carries the memory and the time that comparing takes, and it may come
 * from a file that somebody else wrote: one with absurd parameters would let every log-in, right or wrong, take gigabytes
 * and a minute. So a hash is checked when it is imported, and again before it is used, as a restored store may hold one.
 *
 * The limits hold the usual choices, such as those of RFC 9106 for little memory (64 MiB, 3 passes), of OWASP, and of the
 * common libraries up to libsodium's MODERATE (256 MiB, 3 passes).
 */
import type { Metrics } from '../kit/metrics.ts'

const MAX_KIBIBYTES = 256 * 1024
const MAX_PASSES = 16
const MAX_LANES = 16
/** Memory times passes is what the time grows with: six times that of the hashes made here. */
const MAX_WORK = 3 * MAX_KIBIBYTES
/** Argon2 needs so much for each lane. */
const KIBIBYTES_PER_LANE = 8

/** Version 19 is Argon2 1.3, of 2015. Salts of 8 to 64 bytes, hashes of 16 to 64. */
const SHAPE =
  /^\$argon2(?:id|i|d)\$v=19\$m=([1-9][0-9]{0,9}),t=([1-9][0-9]{0,9}),p=([1-9][0-9]{0,9})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/

/** Why a hash is not compared, to follow "the value"; undefined if it is. */
export function hashViolation(hash: string): string | undefined {
  const [, memory, passes, lanes] = (SHAPE.exec(hash) ?? []).map(Number)
  if (memory === undefined || passes === undefined || lanes === undefined) {
    return 'must be an Argon2 hash in the form $argon2id$v=19$m=...,t=...,p=...$salt$hash'
  }
  if (memory > MAX_KIBIBYTES) return `must not take more than m=${MAX_KIBIBYTES} KiB of memory`
  if (passes > MAX_PASSES) return `must not take more than t=${MAX_PASSES} passes`
  if (lanes > MAX_LANES) return `must not take more than p=${MAX_LANES} lanes`
  if (memory * passes > MAX_WORK) return `must not take more work than m times t = ${MAX_WORK}`
  if (memory < KIBIBYTES_PER_LANE * lanes)
    return `must have at least m=${KIBIBYTES_PER_LANE} KiB for each lane`
  return undefined
}

let refused = 0
let report: (violation: string) => void = () => undefined

/** Has it reported when a hash of the store is not compared. */
export function onRefusedHash(listener: (violation: string) => void): void {
  report = listener
}

export function measurePasswordHashes(metrics: Metrics): void {
  metrics.counter(
    'strand_password_hashes_refused_total',
    'Password checks refused because the parameters of the stored hash are over the limits.',
    refused,
  )
}

/** The hash, if there is one that may be compared. */
export function comparableHash(hash: string | null | undefined): string | undefined {
  if (hash === null || hash === undefined) return undefined
  const violation = hashViolation(hash)
  if (violation === undefined) return hash
  refused += 1
  report(violation)
  return undefined
}
