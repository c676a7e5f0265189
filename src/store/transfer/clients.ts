import { isRefusal } from '../../contract/problem.ts'
import { changeClient, createClient, setClientSecret } from '../commands/clients.ts'
import { clientFields } from '../queries/clients.ts'
import { sql } from '../sql/tag.ts'
import { type CommandLines, hasValues, oneByOne } from './line-type.ts'
import { storedRows } from './stored-rows.ts'

export const client: CommandLines<'client'> = {
  ...storedRows('client', {
    table: 'clients',
    select: sql`select ${clientFields}, secret_hash from clients`,
  }),
  writes: 'commands',
  /** A public client has no secret. */
  asStored: ({ secret_hash, ...line }, row) =>
    secret_hash === undefined || (line.kind ?? row?.kind) === 'public' ? line : { ...line, secret_hash },
  put: oneByOne(async (tx, { line: { secret_hash, ...line }, row }) => {
    if (row === undefined) return createClient(tx, { client: line, secret_hash: secret_hash ?? null })
    if (!hasValues(row, line)) {
      const result = await changeClient(tx, line)
      if (isRefusal(result)) return result
    }
    if (secret_hash !== undefined && secret_hash !== row.secret_hash)
      await setClientSecret(tx, { id: line.id, secret_hash })
    return undefined
  }),
}
