import { randomBytes } from 'node:crypto'

/** More are not kept, so that strangers cannot fill the memory. */
const MAX = 10_000
const COOKIE = 'session'

/** Sessions in memory, by the random id in the browser's cookie. */
export class Sessions {
  #sessions = new Map()
  #attributes

  /** With `secure`, browsers send the cookie over TLS only. */
  constructor({ secure }) {
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  }

  of(request) {
    return this.#sessions.get(idIn(request)) ?? {}
  }

  /** Replaces the session under a new id: an id planted before the login is worth nothing after it. */
  replace(request, response, session) {
    this.end(request, response)
    if (this.#sessions.size >= MAX) this.#sessions.delete(this.#sessions.keys().next().value)
    const id = randomBytes(32).toString('base64url')
    this.#sessions.set(id, session)
    response.setHeader('Set-Cookie', `${COOKIE}=${id}; ${this.#attributes}`)
  }

  end(request, response) {
    this.#sessions.delete(idIn(request))
    response.setHeader('Set-Cookie', `${COOKIE}=; ${this.#attributes}; Max-Age=0`)
  }
}

function idIn(request) {
  const pairs = (request.headers.cookie ?? '').split('; ')
  return pairs.find(pair => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1)
}
