import type { Client } from '../../client/index.ts'
import { tableAt } from '../../contract/admin/index.ts'
import { getInput } from '../../contract/admin/resource.ts'
import { methodFor } from './method.ts'

/** An id whose name is wanted. */
export interface Reference {
  /** The path of its table. */
  readonly table: string
  readonly id: string
}

const CONCURRENCY = 8

/** The names behind ids, for people who read a list: the login of a user, the name of everything else. */
export class Names {
  readonly #client: Client
  readonly #known = new Map<string, string | undefined>()

  constructor(client: Client) {
    this.#client = client
  }

  /** Looks up the names that are not known yet. One that cannot be found is missing in the list, which is no failure. */
  async load(references: Iterable<Reference>): Promise<void> {
    const wanted = new Map([...references].map(each => [referenceKey(each), each]))
    const queue = [...wanted].filter(([key]) => !this.#known.has(key))
    const work = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const [key, reference] = next
        this.#known.set(key, await this.#lookUp(reference).catch(() => undefined))
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
  }

  async #lookUp({ table, id }: Reference): Promise<string | undefined> {
    const described = tableAt(table)
    if (described?.get === undefined) return undefined
    const { get, findBy, name } = described
    const answer = await methodFor(this.#client, get)({ [getInput(described)]: id })
    return answer?.data?.[0]?.[findBy ?? name] as string | undefined
  }

  of(reference: Reference): string | undefined {
    return this.#known.get(referenceKey(reference))
  }
}

const referenceKey = ({ table, id }: Reference) => `${table}/${id}`
