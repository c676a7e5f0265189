import { isRefusal, type Refusal } from '../../contract/problem.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { decimalId } from '../../kit/id.ts'
import type { Transaction } from '../database.ts'
import {
  benefitQueries,
  channelQueries,
  clientQueries,
  gameQueries,
  organizationQueries,
} from '../queries/world.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { putBenefit } from './benefits.ts'
import { changeChannel, rotateStreamKey } from './channels.ts'
import { changeClient, createClient, type NewClient, setClientSecret } from './clients.ts'
import { putGame } from './games.ts'
import type { Fate } from './import.ts'
import { putOrganization } from './organizations.ts'
import { putUser, type StoredStreamKey } from './users.ts'

/** A user as it goes to the store: no secret in plain. */
export type PreparedUser = Omit<TransferLine<'user'>, 'password' | 'stream_key'> & {
  /** For a user who is new. */
  readonly first_key: StoredStreamKey
  /** Where the file names another key than the one that the user has. */
  readonly next_key?: { readonly version: number; readonly stored: StoredStreamKey } | undefined
}

/** Whether everything that is given is so already. */
function holds(known: object, given: object): boolean {
  return Object.entries(given).every(([field, value]) => {
    if (value === undefined) return true
    const had = (known as Record<string, unknown>)[field]
    return had === value || (Array.isArray(value) && JSON.stringify(had) === JSON.stringify(value))
  })
}

/** A command ended otherwise than a line that was just checked allows. */
function refusedAs({ problem }: Refusal): Fate {
  return { refused: `it was changed by somebody else meanwhile (${problem})` }
}

export async function importOrganizations(
  tx: Transaction,
  lines: readonly TransferLine<'organization'>[],
): Promise<Fate[]> {
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) {
    const before = await organizationQueries(tx).find(line.id)
    if (before === undefined || !holds(before, line)) await putOrganization(tx, line)
    fates.push(before === undefined ? 'created' : holds(before, line) ? 'unchanged' : 'changed')
  }
  return fates
}

interface UserRow {
  readonly id: string
  readonly login: string
  readonly display_name: string
  readonly created_at: string
  readonly password_hash: string | null
}

export async function importUsers(
  tx: Transaction,
  lines: readonly PreparedUser[],
  now: number,
): Promise<Fate[]> {
  const rows = await tx.all<UserRow>(
    sql`select id, login, display_name, created_at, password_hash from users where ${isOneOf(
      sql`id`,
      lines.map(line => line.id),
    )}`,
  )
  const known = new Map(rows.map(row => [row.id, row]))
  const fates: Fate[] = []
  for (const line of lines) fates.push(await importUser(tx, line, known.get(line.id), now))
  return fates
}

async function importUser(
  tx: Transaction,
  line: PreparedUser,
  before: UserRow | undefined,
  now: number,
): Promise<Fate> {
  const { type: _, first_key, next_key, password_hash, ...fields } = line
  const isSame = before !== undefined && holds(before, { ...fields, password_hash })
  if (!isSame) {
    const isNewPassword = password_hash !== undefined && password_hash !== before?.password_hash
    const result = await putUser(tx, {
      ...fields,
      ...(isNewPassword && { password_hash }),
      stream_key: first_key,
      now,
    })
    if (isRefusal(result))
      return result.problem === 'taken'
        ? { refused: `the login "${line.login}" is taken` }
        : refusedAs(result)
  }
  if (before === undefined) return 'created'
  if (next_key === undefined) return isSame ? 'unchanged' : 'changed'
  const refused = await rotateStreamKey(tx, {
    user_id: line.id,
    version: next_key.version,
    stream_key: next_key.stored,
    valid_until: new Date(now).toISOString(),
  })
  return refused ? refusedAs(refused) : 'changed'
}

export async function importGames(tx: Transaction, lines: readonly TransferLine<'game'>[]): Promise<Fate[]> {
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) {
    const before = await gameQueries(tx).find(line.id)
    if (before !== undefined && holds(before, line)) fates.push('unchanged')
    else {
      const result = await putGame(tx, line)
      const done = before === undefined ? 'created' : 'changed'
      fates.push(isRefusal(result) ? refusedAs(result) : done)
    }
  }
  return fates
}

export async function importBenefits(
  tx: Transaction,
  lines: readonly TransferLine<'benefit'>[],
): Promise<Fate[]> {
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) {
    const before = await benefitQueries(tx).find(line.id)
    if (before !== undefined && holds(before, line)) fates.push('unchanged')
    else {
      const result = await putBenefit(tx, line)
      const done = before === undefined ? 'created' : 'changed'
      fates.push(isRefusal(result) ? refusedAs(result) : done)
    }
  }
  return fates
}

export async function importClients(
  tx: Transaction,
  lines: readonly TransferLine<'client'>[],
): Promise<Fate[]> {
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) fates.push(await importClient(tx, line))
  return fates
}

async function importClient(
  tx: Transaction,
  { secret_hash, ...line }: Omit<TransferLine<'client'>, 'type'>,
): Promise<Fate> {
  const before = await clientQueries(tx).find(line.id)
  if (before === undefined) {
    const client: NewClient = {
      ...line,
      organization_id: line.organization_id ?? null,
      owner_user_id: line.owner_user_id ?? null,
      kind: line.kind ?? 'confidential',
      redirect_uris: line.redirect_uris ?? [],
      implicit_grant: line.implicit_grant ?? false,
    }
    const secret = client.kind === 'confidential' ? (secret_hash ?? null) : null
    const result = await createClient(tx, { client, secret_hash: secret })
    return isRefusal(result) ? refusedAs(result) : 'created'
  }
  const isSame = holds(before, line)
  if (!isSame) {
    const result = await changeClient(tx, line)
    if (isRefusal(result)) return refusedAs(result)
  }
  if (secret_hash === undefined || (line.kind ?? before.kind) === 'public')
    return isSame ? 'unchanged' : 'changed'
  const credentials = await clientQueries(tx).credentials(line.id)
  if (credentials?.secret_hash === secret_hash) return isSame ? 'unchanged' : 'changed'
  await setClientSecret(tx, { id: line.id, secret_hash })
  return 'changed'
}

export async function importChannels(
  tx: Transaction,
  lines: readonly TransferLine<'channel'>[],
  now: number,
): Promise<Fate[]> {
  const fates: Fate[] = []
  for (const { type: _, ...line } of lines) {
    const before = await channelQueries(tx).find(line.user_id)
    if (before !== undefined && holds(before, line)) fates.push('unchanged')
    else {
      const result = await changeChannel(tx, { ...line, video_id: decimalId(now) })
      fates.push(isRefusal(result) ? refusedAs(result) : 'changed')
    }
  }
  return fates
}
