/**
 * Browsers that logged in before. Each browser has a cookie that stays when its person logs out: an id, and a mark for each
 * account that was opened in it. A mark opens nothing. It keeps those who guess at an account, from wherever, from locking
 * out the browsers of its owner, because these are counted apart from strangers and do not wait behind them.
 *
 * A mark is a MAC of the browser, the account and the hash of its password. It names nobody, cannot be moved to another
 * browser or account, and is worth nothing once the password has changed: a thief who logged in once is a stranger then.
 */
import { hmacSha256, sameSecret } from '../kit/digest.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import type { KeyRing } from '../kit/key-ring.ts'

export interface Account {
  readonly id: string
  readonly password_hash: string | null
}

const ID_CHARACTERS = 20
/** 96 bits, in hexadecimal digits: a guess costs a request. */
const MARK_CHARACTERS = 24
/** The oldest mark goes when a further account is opened. */
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

  /** The id of a browser in which this account was opened with the password that it has now. */
  idOf(cookie: string | undefined, account: Account): string | undefined {
    const { id, marks } = read(cookie)
    if (id === undefined) return undefined
    const valid = this.#marks(id, account)
    return marks.some(mark => valid.some(each => sameSecret(mark, each))) ? id : undefined
  }

  /** The cookie of a browser in which this account has been opened. */
  remember(cookie: string | undefined, account: Account): string {
    const { id = randomAlphanumerics(ID_CHARACTERS), marks } = read(cookie)
    const [newest = '', ...older] = this.#marks(id, account)
    const others = marks.filter(mark => mark !== newest && !older.includes(mark))
    return id + [newest, ...others].slice(0, MAX_ACCOUNTS).join('')
  }

  /** By every master key, newest first. */
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
