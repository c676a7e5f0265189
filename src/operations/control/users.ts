import type { Static } from 'typebox'
import { hashPassword, PasswordsBusy } from '../../auth/passwords.ts'
import { expiry, hashToken, mintSecret } from '../../auth/tokens.ts'
import {
  createPasswordReset,
  createUser,
  deleteUser,
  exportUser,
  getUser,
  listUsers,
  putUser,
  suspendUser,
  unsuspendUser,
} from '../../contract/control/users.ts'
import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import type { DeletedRows } from '../../contract/resources/user.ts'
import { decimalId } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { decimalSortKey } from '../../store/keyset-order.ts'
import { countMedia, countPersonalRows } from '../../store/queries/personal-data.ts'
import { exportPerson } from '../../transfer/export-person.ts'
import { answerOne, answerPage, implement, type Services } from '../implement.ts'
import { spooledLines } from '../spooled-lines.ts'
import { toTimestamp } from '../timestamp.ts'

type UserServices = Pick<Services, 'store' | 'clock' | 'streamKeys'>

export const handleCreateUser = implement(createUser, async ({ body }, services: UserServices) =>
  saveUser({ id: decimalId(services.clock.now()), isNew: true }, body, services),
)

export const handlePutUser = implement(putUser, async ({ params, body }, services: UserServices) =>
  saveUser({ id: params.user_id }, body, services),
)

async function saveUser(
  which: { id: string; isNew?: boolean },
  { password, created_at, ...body }: Static<typeof putUser.body>,
  { store, clock, streamKeys }: UserServices,
) {
  const password_hash = password === undefined ? undefined : await hashOrRefuse(password)
  if (isRefusal(password_hash)) return password_hash
  const user = await store.commands.putUser({
    ...which,
    ...body,
    password_hash,
    stream_key: streamKeys.mint(which.id, 1).stored,
    created_at: created_at === undefined ? undefined : isoMillis(toTimestamp(created_at)),
    now: clock.now(),
  })
  return answerOne(user)
}

async function hashOrRefuse(password: string): Promise<string | Refusal<'passwords_busy'>> {
  try {
    return await hashPassword(password, { lane: 'operator' })
  } catch (error) {
    if (error instanceof PasswordsBusy) return refuse('passwords_busy')
    throw error
  }
}

export const handleGetUser = implement(getUser, async ({ params: { user_id } }, { store }) =>
  answerOne((await store.users.find(user_id)) ?? refuse('not_found', 'user', user_id)),
)

export const handleListUsers = implement(listUsers, async ({ query, window, paginate }, { store }) => {
  if (query.login !== undefined) {
    const user = await store.users.withLogin(query.login)
    return { data: user === undefined ? [] : [user], pagination: {} }
  }
  return answerPage(await store.users.page(window), decimalSortKey, paginate)
})

export const handleSuspendUser = implement(suspendUser, async ({ params, body }, { store, clock }) =>
  answerOne(await store.commands.suspendUser({ id: params.user_id, ...body, now: clock.now() })),
)

export const handleUnsuspendUser = implement(unsuspendUser, async ({ params }, { store }) => {
  const user = await store.commands.unsuspendUser({ id: params.user_id })
  return isRefusal(user) ? user : undefined
})

const RESET_SECONDS = 24 * 3600

export const handleCreatePasswordReset = implement(
  createPasswordReset,
  async ({ params: { user_id } }, { store, clock, publicUrl }) => {
    const secret = mintSecret('reset')
    const expires_at = expiry(clock.now(), RESET_SECONDS)
    const refused = await store.commands.createPasswordReset({
      user_id,
      hash: hashToken(secret),
      expires_at,
    })
    const reset_url = `${publicUrl}/account/new-password?reset=${secret}`
    return refused ?? { data: [{ reset_url, expires_at }] }
  },
)

/** The audit log records an export before it begins. */
export const handleExportUser = implement(exportUser, async ({ params }, services) => {
  const { store, clock } = services
  const refused = await store.commands.recordExport({ user_id: params.user_id })
  if (isRefusal(refused)) return refused
  return spooledLines(services, append => exportPerson(services, refused, clock.now(), append))
})

const MEDIA_KEPT = 'They are deleted within a minute, later where a node or object storage does not answer.'
const BACKUPS_KEPT = 'Backups from before have the user. Delete them if nothing of the user may remain.'

export const handleDeleteUser = implement(deleteUser, async ({ params: { user_id } }, { store, clock }) => {
  const { counts, media } = await store.snapshot(async db => ({
    counts: await countPersonalRows(db, user_id),
    media: await countMedia(db, user_id),
  }))
  // A transaction that deletes millions of rows would not end within its deadline.
  while ((await store.commands.removeFollowsAround({ user_id })) > 0);
  const refused = await store.commands.deleteUser({ id: user_id, now: clock.now() })
  if (isRefusal(refused)) return refused
  const rows: DeletedRows[] = counts.map(({ table: { table, kept }, rows }) => ({
    data: table,
    result: kept === undefined ? 'removed' : 'kept',
    rows,
    reason: kept ?? '',
  }))
  if (media > 0) rows.push({ data: 'media', result: 'removed', rows: media, reason: MEDIA_KEPT })
  const kept = rows.filter(({ result }) => result === 'kept')
  const removed = rows.filter(({ result }) => result === 'removed')
  return {
    data: [
      ...removed,
      ...kept,
      { data: 'backups', result: 'kept' as const, rows: null, reason: BACKUPS_KEPT },
    ],
  }
})
