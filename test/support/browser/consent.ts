/** An application that sends a person to be asked, and what comes of it. */
import { expect } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import type { Answer, TestServer } from '../server.ts'
import { carried, Person, type Seen } from './person.ts'

export const CALLBACK = 'http://localhost:3000/callback'

export interface TestApplication {
  readonly id: string
  readonly secret?: string
}

/** Registers an application with the usual way back. */
export async function register(
  server: TestServer,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<TestApplication> {
  const [client] = await server.control('POST', '/clients', {
    name: 'Overlay & Co',
    redirect_uris: [CALLBACK],
    ...changes,
  })
  return client
}

export const verifier = () => randomBytes(32).toString('base64url')
export const challengeOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The link that the application sends a person to. */
export function authorizeLink(
  client_id: string,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const all = {
    response_type: 'code',
    client_id,
    redirect_uri: CALLBACK,
    scope: 'user:read:follows chat:read',
    state: 'state of the app',
    ...changes,
  }
  const given = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined)
  return `/oauth2/authorize?${new URLSearchParams(given)}`
}

/** A person of the demo who is logged in. */
export async function loggedIn(server: TestServer, login = server.world.broadcaster.login): Promise<Person> {
  const person = new Person(server)
  await person.logIn(login)
  return person
}

/** The person allows what the link asks for; where that leads. */
export async function allow(person: Person, link: string): Promise<Seen> {
  const seen = await person.browse(link)
  return seen.location === null ? person.submit('/oauth2/consent', { decision: 'allow' }) : seen
}

/** The code that an application gets for a person who allows. */
export async function codeFor(
  server: TestServer,
  application: TestApplication,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<string> {
  const person = await loggedIn(server)
  const { location } = await allow(person, authorizeLink(application.id, changes))
  const code = carried(location).get('code')
  expect(code).toMatch(/^scod_[A-Za-z0-9]{38}$/)
  return code ?? ''
}

export function redeem(
  server: TestServer,
  application: TestApplication,
  code: string,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const body = {
    grant_type: 'authorization_code',
    client_id: application.id,
    client_secret: application.secret,
    code,
    redirect_uri: CALLBACK,
    ...changes,
  }
  return server.call({ method: 'POST', path: '/oauth2/token', body })
}

export function validate(server: TestServer, token: string): Promise<Answer> {
  return server.call({ path: '/oauth2/validate', headers: { Authorization: `OAuth ${token}` } })
}
