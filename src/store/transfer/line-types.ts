import type { TransferType } from '../../contract/resources/transfer.ts'
import * as broadcasts from './broadcasts.ts'
import * as campaigns from './campaigns.ts'
import * as channels from './channels.ts'
import { client } from './clients.ts'
import { entitlement } from './entitlements.ts'
import * as games from './games.ts'
import type { CommandLines, LineType, RowLines } from './line-type.ts'
import * as organizations from './organizations.ts'
import { user } from './users.ts'

const ALL: { readonly [T in TransferType]: RowLines<T> | CommandLines<T> } = {
  ...organizations,
  user,
  ...games,
  client,
  ...channels,
  ...broadcasts,
  entitlement,
  ...campaigns,
}

/** The declaration of each type of line. Callers pass a declaration only lines of its type. */
export const LINE_TYPES = ALL as unknown as Readonly<Record<TransferType, LineType>>
