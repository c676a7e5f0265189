/**
 * Limits on the parameters of password hashes. A hash determines the memory and time of a comparison, and may come from an
 * untrusted import file: with absurd parameters, every login attempt, right or wrong, would take gigabytes and a minute. So
 * a hash is checked on import, and again before use, because a restored store may contain one.
 *
 * The limits include the common choices: RFC 9106 for low memory (64 MiB, 3 passes), OWASP, and popular libraries up to
 * libsodium's MODERATE (256 MiB, 3 passes).
 */
import type { Metrics } from '../kit/telemetry/metrics.ts'

const MAX_KIBIBYTES = 256 * 1024
const MAX_PASSES = 16
const MAX_LANES = 16
/** Time grows with memory times passes. The limit is six times that of the hashes created here. */
const MAX_WORK = 3 * MAX_KIBIBYTES
/** The minimum that Argon2 requires. */
const KIBIBYTES_PER_LANE = 8

/** Version 19 is Argon2 1.3, of 2015. Salts of 8 to 64 bytes, hashes of 16 to 64. */
const SHAPE =
  /^\$argon2(?:id|i|d)\$v=19\$m=([1-9][0-9]{0,9}),t=([1-9][0-9]{0,9}),p=([1-9][0-9]{0,9})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/

/** Why a hash is rejected, as a phrase that follows "the value"; undefined if it is acceptable. */
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

/** Sets the listener for stored hashes that are rejected. */
export function onRefusedHash(listener: (violation: string) => void): void {
  report = listener
}

export function measurePasswordHashes(metrics: Metrics): void {
  metrics.counter(
    'strand_password_hashes_refused_total',
    'Password checks rejected because the parameters of the stored hash exceed the limits.',
    refused,
  )
}

/** The hash, if it is present and within the limits. */
export function comparableHash(hash: string | null | undefined): string | undefined {
  if (hash === null || hash === undefined) return undefined
  const violation = hashViolation(hash)
  if (violation === undefined) return hash
  refused += 1
  report(violation)
  return undefined
}
