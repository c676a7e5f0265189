import { passwords } from '../auth/passwords.ts'
import type { StreamKeys } from '../auth/stream-keys.ts'
import type { TransferLine } from '../contract/resources/transfer.ts'
import type { Store } from '../store/store.ts'
import type { ImportLine, StoredLine } from '../store/transfer/line-type.ts'

export interface PrepareServices {
  readonly store: Store
  readonly streamKeys: StreamKeys
}

/** Prepares lines for the store: seals or hashes secrets. */
export async function prepareLines(
  lines: readonly TransferLine[],
  { store, streamKeys }: PrepareServices,
): Promise<ImportLine[]> {
  const users = lines.filter(line => line.type === 'user')
  const withSecrets = users.filter(user => user.password !== undefined || user.stream_key !== undefined)
  const rows = withSecrets.length === 0 ? new Map() : await store.transfer.users(withSecrets)
  const prepared: ImportLine[] = []
  for (const line of lines) {
    if (line.type === 'user') prepared.push(await prepareUser(line, rows.get(line.id), streamKeys))
    else if (line.type === 'stream_key') prepared.push(prepareExtraKey(line, streamKeys))
    else prepared.push(line)
  }
  return prepared
}

function prepareExtraKey(
  { stream_key, ...line }: TransferLine<'stream_key'>,
  streamKeys: StreamKeys,
): ImportLine {
  const { user_id, name } = line
  const random_key = streamKeys.mint(user_id, name).stored
  if (stream_key === undefined) return { ...line, random_key }
  const lookup_hashes = streamKeys.lookupHashes(stream_key)
  return {
    ...line,
    random_key,
    given_key: { stored: streamKeys.seal(user_id, name, stream_key), lookup_hashes },
  }
}

async function prepareUser(
  { password, stream_key, ...line }: TransferLine<'user'>,
  row: StoredLine<'user'> | undefined,
  streamKeys: StreamKeys,
): Promise<ImportLine> {
  const stored = (version: number) => streamKeys.mint(line.id, version, stream_key?.split('_')[2]).stored
  const other =
    row !== undefined && stream_key !== undefined && streamKeys.open(line.id, row) !== stream_key
      ? streamKeys.lookupHashes(stream_key)
      : undefined
  const version = (row?.slot ?? 0) + 1
  const password_hash = line.password_hash ?? (password && (await hashOnce(password, row?.password_hash)))
  return {
    ...line,
    ...(password_hash !== undefined && { password_hash }),
    first_key: stored(1),
    ...(other && { next_key: { version, stored: stored(version), lookup_hashes: other } }),
  }
}

/** The hash of a password: the stored one if it matches, so that nothing changes. Waits in the queue without a limit. */
async function hashOnce(password: string, stored: string | undefined): Promise<string> {
  return passwords.inTurn(
    { lane: 'operator' },
    async turn => (stored && (await turn.matches(password, stored)) ? stored : turn.hash(password)),
    { maxWaitMilliseconds: Number.POSITIVE_INFINITY },
  )
}
