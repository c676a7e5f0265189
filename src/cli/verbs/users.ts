import type { Client } from '../../client/index.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { isUser } from './fields.ts'
import type { Input } from './input.ts'
import type { Verb } from './verb.ts'

/** Puts ids where logins were given. */
export async function nameUsers(client: Client, verb: Verb, input: Input): Promise<Input> {
  const named: Input = {}
  for (const [name, value] of Object.entries(input)) {
    if (isUser(name) && value !== null) named[name] = await idsOf(client, value as string | string[])
    else if (name !== verb.bulk) named[name] = value
    else if (verb.takesPairs) named[name] = await nameKeys(client, value as Record<string, number>)
    else named[name] = await Promise.all((value as Input[]).map(thing => nameUsers(client, verb, thing)))
  }
  return named
}

/** One user, or each of a list. */
function idsOf(client: Client, given: string | readonly string[]): Promise<string | string[]> {
  return typeof given === 'string'
    ? userIdOf(client, given)
    : Promise.all(given.map(each => userIdOf(client, each)))
}

async function nameKeys(client: Client, counts: Readonly<Record<string, number>>) {
  const named: Record<string, number> = {}
  for (const [user, count] of Object.entries(counts)) named[await userIdOf(client, user)] = count
  return named
}

/** A number is an id; anything else is a login, and so is a number behind an @. */
export async function userIdOf(client: Client, given: string): Promise<string> {
  if (/^[0-9]+$/.test(given)) return given
  const login = given.replace(/^@/, '')
  // An empty filter would match everybody.
  const { data } = login === '' ? { data: [] } : await client.control.listUsers({ login })
  const user = data.find(each => each.login === login.toLowerCase())
  if (user === undefined) throw new OperatorError(`no user with the login "${login}"`)
  return user.id
}
