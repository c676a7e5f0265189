import type { Client } from '../../client/index.ts'
import { isUser } from '../../contract/admin/fields.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import type { Input } from './input.ts'
import type { Verb } from './verb.ts'

/** Replaces logins by ids. */
export async function resolveLogins(client: Client, verb: Verb, input: Input): Promise<Input> {
  const resolved: Input = {}
  for (const [name, value] of Object.entries(input)) {
    if (isUser(name) && value !== null) resolved[name] = await findIds(client, value as string | string[])
    else if (name !== verb.bulk) resolved[name] = value
    else if (verb.takesPairs) resolved[name] = await resolveKeys(client, value as Record<string, number>)
    else
      resolved[name] = await Promise.all((value as Input[]).map(entry => resolveLogins(client, verb, entry)))
  }
  return resolved
}

/** One user, or each of a list. */
function findIds(client: Client, given: string | readonly string[]): Promise<string | string[]> {
  return typeof given === 'string'
    ? findUserId(client, given)
    : Promise.all(given.map(each => findUserId(client, each)))
}

async function resolveKeys(client: Client, counts: Readonly<Record<string, number>>) {
  const resolved: Record<string, number> = {}
  for (const [user, count] of Object.entries(counts)) resolved[await findUserId(client, user)] = count
  return resolved
}

/** A number is an id; anything else is a login, as is a number after an @. */
export async function findUserId(client: Client, given: string): Promise<string> {
  if (/^[0-9]+$/.test(given)) return given
  const login = given.replace(/^@/, '')
  // An empty filter would match every user.
  const { data } = login === '' ? { data: [] } : await client.control.listUsers({ login })
  const user = data.find(each => each.login === login.toLowerCase())
  if (user === undefined) throw new OperatorError(`no user with the login "${login}"`)
  return user.id
}
