import type { Client } from '../../client/index.ts'

/** Kinds of ids that have a name. */
export type Named = 'user' | 'game' | 'benefit' | 'organization' | 'client'

/** An id whose name is wanted. */
export interface Reference {
  readonly kind: Named
  readonly id: string
}

const AT_ONCE = 8

/** The names behind ids, for people who read a list: the login of a user, the name of everything else. */
export class Names {
  readonly #lookUps: Readonly<Record<Named, (id: string) => Promise<string | undefined>>>
  readonly #known = new Map<string, string | undefined>()

  constructor({ control }: Client) {
    this.#lookUps = {
      user: async user_id => (await control.getUser({ user_id })).data[0]?.login,
      game: async game_id => (await control.getGame({ game_id })).data[0]?.name,
      benefit: async benefit_id => (await control.getBenefit({ benefit_id })).data[0]?.name,
      organization: async organization_id =>
        (await control.getOrganization({ organization_id })).data[0]?.name,
      client: async client_id => (await control.getClient({ client_id })).data[0]?.name,
    }
  }

  /** Looks up the names that are not known yet. One that cannot be found is missing in the list, which is no failure. */
  async load(references: Iterable<Reference>): Promise<void> {
    const wanted = new Map([...references].map(each => [keyOf(each), each]))
    const queue = [...wanted].filter(([key]) => !this.#known.has(key))
    const work = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const [key, { kind, id }] = next
        this.#known.set(key, await this.#lookUps[kind](id).catch(() => undefined))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }

  of(reference: Reference): string | undefined {
    return this.#known.get(keyOf(reference))
  }
}

const keyOf = ({ kind, id }: Reference) => `${kind}/${id}`
