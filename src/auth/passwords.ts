import type { Figures } from '../kit/figures.ts'
import { comparableHash } from './password-hash.ts'

/** Passwords: argon2id, hashed and compared in the runtime's own threads, a few at a time so that they cannot take all memory. */
const AT_ONCE = 2
/** Whoever would have to wait behind so many is better told to come back. */
const LONGEST_QUEUE = 64

export const SHORTEST_PASSWORD = 8
export const LONGEST_PASSWORD = 200

export class TooManyPasswords extends Error {
  override readonly name = 'TooManyPasswords'
}

let running = 0
let refused = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= LONGEST_QUEUE) {
      refused += 1
      throw new TooManyPasswords()
    }
    await new Promise<void>(resolve => waiting.push(resolve))
  }
  running += 1
  try {
    return await work()
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}

export function measurePasswords(figures: Figures): void {
  figures.gauge('strand_password_hashing_running', 'Passwords that are being hashed or compared.', running)
  figures.gauge('strand_password_hashing_waiting', 'Passwords that wait for that.', waiting.length)
  figures.counter('strand_password_hashing_refused_total', 'Passwords that found the line full.', refused)
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, { algorithm: 'argon2id' }))
}

/** Made of a password that nobody knows: an unknown account takes as long to refuse as a known one. */
let nobodys: Promise<string> | undefined

/** Whether the password is the one of the hash. Without a comparable hash it is not, and that takes just as long. */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  nobodys ??= hashPassword(crypto.randomUUID())
  const hash = comparableHash(stored)
  const against = hash ?? (await nobodys)
  const matches = await inTurn(() => Bun.password.verify(password, against)).catch(error => {
    if (error instanceof TooManyPasswords) throw error
    return false
  })
  return matches && hash !== undefined
}
