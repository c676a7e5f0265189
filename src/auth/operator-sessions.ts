import type { Caller } from '../domain/caller.ts'
import { hmacSha256, sameSecret } from '../kit/crypto/digest.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { decrypt, encrypt } from '../kit/crypto/secret-box.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { ENDED_SESSIONS, type EndedSession } from '../store/commands/operators.ts'
import type { Store } from '../store/store.ts'
import { resolveOperator } from './callers.ts'
import { hashToken } from './tokens.ts'

/**
 * Sessions of the operator console. An operator logs in with a token, which the browser does not keep: its cookie holds the
 * hash of the token, a session id and an end, sealed with a key of the installation. A session is valid while its token is,
 * so deleting a named operator ends the sessions of that operator on every node at once. Log-out records the session id in
 * the store: a copy of the cookie is worth nothing afterwards.
 *
 * The time is that of the machine. The clock of a demo can be moved, which is no reason to log in again.
 */
const LIFETIME_MILLISECONDS = 12 * 3600 * 1000
const ID_LENGTH = 20
const SEALED = /^[0-9a-f]{100,256}$/
const PLAIN = /^([A-Za-z0-9_-]{43})([A-Za-z0-9]{20})([0-9]{13})$/
const CONTEXT = 'operator session'

export type Operator = Extract<Caller, { kind: 'operator' }>

export interface OperatorSession {
  readonly id: string
  readonly operator: Operator
  /** Milliseconds since 1970. */
  readonly ends: number
}

interface Dependencies {
  readonly ring: KeyRing
  readonly store: Pick<Store, 'operators' | 'facts' | 'commands'>
  /** The initial token. */
  readonly operatorToken: string
  readonly now?: () => number
}

export class OperatorSessions {
  readonly #given: Required<Dependencies>

  constructor(dependencies: Dependencies) {
    this.#given = { now: Date.now, ...dependencies }
  }

  /** The cookie of a new session; undefined if this is not the token of an operator. */
  async start(token: string): Promise<string | undefined> {
    const found = await resolveOperator(this.#given.operatorToken, this.#given.store, `Bearer ${token}`)
    if (found === 'invalid' || found.kind !== 'operator') return undefined
    const hash = Buffer.from(hashToken(token), 'hex').toString('base64url')
    const text = hash + randomAlphanumerics(ID_LENGTH) + (this.#given.now() + LIFETIME_MILLISECONDS)
    return encrypt(this.#given.ring.deriveNewest(CONTEXT), text, CONTEXT).toString('hex')
  }

  /** The session of a cookie, while it and its token are valid. */
  async find(cookie: string): Promise<OperatorSession | undefined> {
    const [, hash = '', id = '', end = ''] = PLAIN.exec(this.#open(cookie) ?? '') ?? []
    const ends = Number(end)
    if (id === '' || ends <= this.#given.now()) return undefined
    const operator = await this.#operatorWith(Buffer.from(hash, 'base64url').toString('hex'))
    return operator === undefined || (await this.#hasEnded(id)) ? undefined : { id, operator, ends }
  }

  async end({ id, ends }: OperatorSession): Promise<void> {
    await this.#given.store.commands.endOperatorSession({ id, ends, now: this.#given.now() })
  }

  /** What every form of the session carries. Another site cannot know it, and that of another session does not fit. */
  createProof({ id }: OperatorSession): string {
    return proofWith(this.#given.ring.deriveNewest(CONTEXT), id)
  }

  isProof({ id }: OperatorSession, given: string): boolean {
    return this.#given.ring.deriveAll(CONTEXT).some(key => sameSecret(given, proofWith(key, id)))
  }

  #open(cookie: string): string | undefined {
    if (!SEALED.test(cookie)) return undefined
    const bytes = Buffer.from(cookie, 'hex')
    for (const key of this.#given.ring.deriveAll(CONTEXT)) {
      const text = decrypt(key, bytes, CONTEXT)
      if (text !== undefined) return text
    }
    return undefined
  }

  async #operatorWith(hash: string): Promise<Operator | undefined> {
    if (sameSecret(hash, hashToken(this.#given.operatorToken))) return { kind: 'operator', name: null }
    const name = await this.#given.store.operators.withToken(hash)
    return name === undefined ? undefined : { kind: 'operator', name }
  }

  async #hasEnded(id: string): Promise<boolean> {
    const fact = await this.#given.store.facts.find(ENDED_SESSIONS)
    return fact !== undefined && (JSON.parse(fact) as EndedSession[]).some(([ended]) => ended === id)
  }
}

const proofWith = (key: Uint8Array, id: string): string =>
  hmacSha256(key, `proof ${id}`).toString('base64url')
