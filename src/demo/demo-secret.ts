import { createHash } from 'node:crypto'
import { mintSecret, type SecretKind } from '../auth/tokens.ts'
import { alphanumericsFrom } from '../kit/id.ts'

/** A secret of the demo: the same for the same seed, so that lines from the README work. */
export function demoSecret(seed: number, kind: SecretKind, name: string): string {
  return mintSecret(kind, demoRandom(seed, `${kind} ${name}`, 32))
}

export function demoRandom(seed: number, name: string, length: number): string {
  return alphanumericsFrom(demoDigest(seed, name), length)
}

export function demoDigest(seed: number, name: string): Buffer {
  return createHash('sha512').update(`strand demo ${seed} ${name}`).digest()
}
