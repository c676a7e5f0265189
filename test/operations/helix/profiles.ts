/** Users and games with the fields that only the store has to set for a proof. */
import type { Game } from '../../../src/contract/resources/game.ts'
import type { User } from '../../../src/contract/resources/user.ts'
import { randomAlphanumerics } from '../../../src/kit/id.ts'
import type { TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'

/** A user with a random login, unless one is given. */
export async function newUser(
  server: TestServer,
  fields: Partial<Omit<User, 'id'>> & { id?: string } = {},
): Promise<User> {
  const { login = `proof_${randomAlphanumerics(12)}`, id, ...rest } = fields
  const [made] =
    id === undefined
      ? await server.control('POST', '/users', { login })
      : await server.control('PUT', `/users/${id}`, { login })
  const { commands } = server.strand.services.store
  const stream_key = { key_id: '', sealed: '', lookup_hash: '' }
  return (await commands.putUser({ id: made.id, ...rest, stream_key, now: 0 })) as User
}

export async function newGame(server: TestServer, fields: Partial<Game> & { name: string }): Promise<Game> {
  const id = fields.id ?? String(10 ** 9 + Math.floor(Math.random() * 10 ** 9))
  return (await server.strand.services.store.commands.putGame({ ...fields, id })) as Game
}

/** A token of the client of the world for this user. */
export function userToken(server: TestServer, { id }: { id: string }, scopes: readonly string[] = []) {
  return tokenOf(server, { client_id: server.world.client.id, user_id: id, scopes })
}
