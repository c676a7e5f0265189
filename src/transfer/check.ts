import type { TransferLine, TransferType } from '../contract/resources/transfer.ts'
import type { Refusals } from '../store/queries/transfer.ts'
import type { Store } from '../store/store.ts'
import { SeenLines } from './seen.ts'

/** Tells which lines cannot be, by what stands in the store and by what the earlier lines of the same file have told. */
export class LineCheck {
  readonly #store: Store
  readonly #seen = new SeenLines()

  constructor(store: Store) {
    this.#store = store
  }

  /** Lines of one type that stand together, in their order. */
  async refusalsOf(type: TransferType, lines: readonly TransferLine[]): Promise<Refusals> {
    const { transfer } = this.#store
    const refusals = await transfer.missingReferences(type, lines, this.#seen)
    for (const [index, why] of await transfer.conflictsWith(type, lines, this.#seen))
      if (!refusals.has(index)) refusals.set(index, why)
    for (const [index, line] of lines.entries()) {
      if (refusals.has(index)) continue
      const why = this.#note(line)
      if (why !== undefined) refusals.set(index, why)
    }
    return refusals
  }

  /** Notes what a line tells; says why not, if an earlier one has told it. Relations may be told twice. */
  #note(line: TransferLine): string | undefined {
    const seen = this.#seen
    const isNew = (id: string) =>
      seen.add(line.type, id) ? undefined : `the ${line.type} "${id}" is in this file already`
    switch (line.type) {
      case 'member':
      case 'editor':
      case 'follow':
        return undefined
      case 'channel':
        return isNew(line.user_id)
      case 'user':
        if (seen.has('user', line.id)) return isNew(line.id)
        if (!seen.add('login', line.login))
          return `the login "${line.login}" is given to another user in this file`
        return isNew(line.id)
      case 'video':
        seen.add('video', line.id, line.user_id)
        return isNew(line.id)
      case 'stream':
        if (!seen.add('stream of', line.user_id))
          return `the channel of the user "${line.user_id}" has another stream in this file`
        return isNew(line.id)
      default:
        return isNew(line.id)
    }
  }
}
