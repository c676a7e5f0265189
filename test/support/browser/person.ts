import { expect } from 'bun:test'
import { expiry, hashToken, mintSecret } from '../../../src/auth/tokens.ts'
import { isoMillis } from '../../../src/kit/time/clock.ts'
import type { TestServer } from '../server.ts'

/** What a browser would show or do next. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** Where the answer leads, if it leads on. */
  readonly location: string | null
  readonly forms: readonly Form[]
}

interface Form {
  readonly method: string
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

/**
 * A person with a browser that keeps cookies and fills in forms, without a picture. What only a real browser can show is
 * asked of one in browser.full.ts.
 */
export class Person {
  readonly #server: Pick<TestServer, 'url' | 'canaries' | 'world'> & Partial<Pick<TestServer, 'strand'>>
  readonly #cookies = new Map<string, string>()
  headers: Record<string, string> = {}
  seen: Seen | undefined
  /** As whom they logged in last. */
  login: string | undefined

  constructor(server: Pick<TestServer, 'url' | 'canaries' | 'world'> & Partial<Pick<TestServer, 'strand'>>) {
    this.#server = server
  }

  get cookies(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name)
  }

  /** Has logged in already: checking a password takes long, and few tests are about it. */
  async holdSession(user_id: string): Promise<void> {
    const { strand } = this.#server
    if (strand === undefined) throw new Error('sessions need a server in this process')
    const { store, clock } = strand.services
    const secret = mintSecret('session')
    const now = clock.now()
    const session = {
      hash: hashToken(secret),
      id: crypto.randomUUID(),
      user_id,
      expires_at: expiry(now, 3600),
      browser: 'Test',
    }
    const user = await store.users.find(user_id)
    const { password_hash = null } = (await store.accounts.credentials(user?.login ?? '')) ?? {}
    await store.commands.startSession({ session, password_hash, now: isoMillis(now) })
    this.#server.canaries.add(secret)
    this.#cookies.set('__Host-strand-session', secret)
  }

  /** Opens a page, without following where it leads. */
  async open(path: string): Promise<Seen> {
    return this.#send(path, { method: 'GET' })
  }

  /** Opens a page and goes where our own pages lead; stops at what leads elsewhere. */
  async browse(path: string): Promise<Seen> {
    return this.#follow(await this.open(path))
  }

  /** Sends the form of the last page that goes to this action, with these values, and follows. */
  async submit(action: string, values: Readonly<Record<string, string>> = {}): Promise<Seen> {
    return this.#follow(await this.post(action, values))
  }

  /** The same without following. */
  async post(action: string, values: Readonly<Record<string, string>> = {}): Promise<Seen> {
    const form = this.seen?.forms.find(each => each.action === action)
    if (form === undefined) throw new Error(`there is no form to ${action} in: ${this.seen?.html}`)
    return this.#send(form.action, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form.fields, ...values }).toString(),
    })
  }

  /** A form that was made elsewhere. */
  async postRaw(path: string, values: Readonly<Record<string, string>>, headers: Record<string, string>) {
    return this.#send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(values).toString(),
    })
  }

  /** Logs in as this user of the demo, whose password is the demo's. */
  async logIn(login: string): Promise<Seen> {
    await this.browse('/login')
    const password = this.#server.world.users[0]?.password ?? ''
    const seen = await this.submit('/login', { login, password })
    expect(seen.status).toBe(200)
    this.login = login
    return seen
  }

  async #follow(seen: Seen): Promise<Seen> {
    let current = seen
    for (let hops = 0; hops < 5; hops++) {
      const { location } = current
      if (location === null || !location.startsWith('/')) return current
      current = await this.open(location)
    }
    throw new Error(`going in circles at ${current.location}`)
  }

  async #send(path: string, init: RequestInit & { headers?: Record<string, string> }): Promise<Seen> {
    const response = await fetch(this.#server.url + path, {
      ...init,
      headers: { ...init.headers, ...this.headers, ...(this.#cookies.size > 0 && { Cookie: this.cookies }) },
      redirect: 'manual',
    })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    const html = await response.text()
    this.#server.canaries.note(`${response.headers.get('location')} ${response.headers.getSetCookie()}`)
    this.seen = {
      status: response.status,
      headers: response.headers,
      html,
      location: response.headers.get('location'),
      forms: formsOf(html),
    }
    return this.seen
  }

  #keep(line: string): void {
    expect(line).toMatch(/^__Host-strand-[a-z]+=[A-Za-z0-9_]*; Path=\/; Secure; HttpOnly; SameSite=/)
    expect(line).toContain(line.startsWith('__Host-strand-console=') ? 'SameSite=Strict' : 'SameSite=Lax')
    const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
    if (line.includes('Max-Age=0')) this.#cookies.delete(name)
    else this.#cookies.set(name, value)
  }
}

/** The forms of the page itself, then those around it, such as the search and the log-out. */
function formsOf(html: string): Form[] {
  const [main = ''] = /<main.*<\/main>/s.exec(html) ?? []
  return [...formsIn(main), ...formsIn(html.replace(main, ''))]
}

function formsIn(html: string): Form[] {
  return [...html.matchAll(/<form method="(\w+)" action="([^"]*)">(.*?)<\/form>/gs)].map(
    ([, method = '', action = '', inside = '']) => ({
      method,
      action,
      fields: Object.fromEntries(
        [...inside.matchAll(/<input type="hidden" name="([^"]*)"[^>]*? value="([^"]*)"\/?>/g)].map(
          ([, name = '', value = '']) => [name, unescaped(value)],
        ),
      ),
    }),
  )
}

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

/** The parameters that a redirect carries, in its query string or its fragment. */
export function carried(location: string | null, where: 'search' | 'hash' = 'search'): URLSearchParams {
  if (location === null) throw new Error('it leads nowhere')
  return new URLSearchParams(new URL(location)[where].slice(1))
}

/** The CSRF token in the forms of a page. */
export const csrfIn = (html: string): string => /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
