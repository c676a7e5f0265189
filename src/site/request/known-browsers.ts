/**
 * Browsers that have logged in before. Each browser has a cookie that survives log-out: an id, and a mark for each account
 * that logged in there. A mark grants no access. It prevents password guessing from locking out the owner of an account:
 * attempts from known browsers are counted and queued separately from those of unknown ones.
 *
 * A mark is a MAC of the browser, the account and its password hash. It does not identify the account, cannot be moved to
 * another browser or account, and becomes invalid when the password changes, also for a thief who logged in once.
 */
import { hmacSha256, sameSecret } from '../../kit/crypto/digest.ts'
import type { KeyRing } from '../../kit/crypto/key-ring.ts'
import { randomAlphanumerics } from '../../kit/id.ts'

export interface Account {
  readonly id: string
  readonly password_hash: string | null
}

const ID_CHARACTERS = 20
/** 96 bits in hexadecimal digits; every guess takes a request. */
const MARK_CHARACTERS = 24
/** The oldest mark is dropped when another account logs in. */
const MAX_ACCOUNTS = 8

const COOKIE = new RegExp(
  `^([A-Za-z0-9]{${ID_CHARACTERS}})((?:[0-9a-f]{${MARK_CHARACTERS}}){0,${MAX_ACCOUNTS}})$`,
)
const MARKS = new RegExp(`.{${MARK_CHARACTERS}}`, 'g')

export class KnownBrowsers {
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  /** The id of the browser, if this account has logged in there with its current password. */
  findBrowserId(cookie: string | undefined, account: Account): string | undefined {
    const { id, marks } = read(cookie)
    if (id === undefined) return undefined
    const valid = this.#marks(id, account)
    return marks.some(mark => valid.some(each => sameSecret(mark, each))) ? id : undefined
  }

  /** The cookie with a mark for this account. */
  remember(cookie: string | undefined, account: Account): string {
    const { id = randomAlphanumerics(ID_CHARACTERS), marks } = read(cookie)
    const [newest = '', ...older] = this.#marks(id, account)
    const others = marks.filter(mark => mark !== newest && !older.includes(mark))
    return id + [newest, ...others].slice(0, MAX_ACCOUNTS).join('')
  }

  /** One mark per master key, newest first. */
  #marks(browser: string, { id, password_hash }: Account): string[] {
    return this.#ring
      .deriveAll('known-browsers')
      .map(key => hmacSha256(key, JSON.stringify([browser, id, password_hash])))
      .map(mac => mac.toString('hex').slice(0, MARK_CHARACTERS))
  }
}

function read(cookie: string | undefined): { id?: string; marks: string[] } {
  const [, id, marks = ''] = COOKIE.exec(cookie ?? '') ?? []
  return id === undefined ? { marks: [] } : { id, marks: marks.match(MARKS) ?? [] }
}
