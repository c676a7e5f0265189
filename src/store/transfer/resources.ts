import type { TransferType } from '../../contract/resources/transfer.ts'
import * as broadcasts from './broadcasts.ts'
import * as channels from './channels.ts'
import { entitlement } from './entitlements.ts'
import type { Resource } from './resource.ts'
import * as world from './world.ts'

const ALL: { readonly [T in TransferType]: Resource<T> } = {
  ...world,
  ...channels,
  ...broadcasts,
  entitlement,
}

/** By type: the lines that one is given are of its type. */
export const RESOURCES = ALL as unknown as Readonly<Record<TransferType, Resource>>
