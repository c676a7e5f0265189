import { createHash } from 'node:crypto'
import { mintSecret, type SecretKind } from '../auth/tokens.ts'
import { alphanumericsFrom } from '../kit/id.ts'

/** A secret of the demo: deterministic for a seed, so that commands from the README work. */
export function demoSecret(seed: number, kind: SecretKind, name: string): string {
  return mintSecret(kind, demoRandom(seed, `${kind} ${name}`, 32))
}

export function demoRandom(seed: number, name: string, length: number): string {
  return alphanumericsFrom(demoDigest(seed, name), length)
}

export function demoDigest(seed: number, name: string): Buffer {
  return createHash('sha512').update(`strand demo ${seed} ${name}`).digest()
}
