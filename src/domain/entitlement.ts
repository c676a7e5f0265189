import {
  type EntitlementUpdate,
  UPDATE_STATUSES,
  type UpdateStatus,
} from '../contract/resources/entitlement.ts'
import { UUID_PATTERN } from '../contract/resources/id.ts'
import { type EntitlementReach, isWithinReach } from './access.ts'

const uuidShape = new RegExp(UUID_PATTERN)

function isUuidShaped(text: string): boolean {
  return uuidShape.test(text)
}

/** A stored entitlement that a request wants to update. */
export interface UpdateCandidate {
  /** Undefined: another one than the caller's. */
  readonly organization_id: string | undefined
  readonly user_id: string
}

/** The distinct ids of a batch: two spellings of one UUID are one id, echoed as first sent (D-27). */
export function distinctIds(sent: readonly string[]): Map<string, string> {
  const echoes = new Map<string, string>()
  for (const echo of sent) {
    const id = isUuidShaped(echo) ? echo.toLowerCase() : echo
    if (!echoes.has(id)) echoes.set(id, echo)
  }
  return echoes
}

/** The status of one id before the write, which can still fail. */
export function updateStatus(
  id: string,
  found: UpdateCandidate | undefined,
  reach: EntitlementReach,
  failing: ReadonlySet<string>,
): UpdateStatus {
  if (found === undefined) return isUuidShaped(id) ? 'NOT_FOUND' : 'INVALID_ID'
  if (!isWithinReach(reach, found)) return 'UNAUTHORIZED'
  return failing.has(id) ? 'UPDATE_FAILED' : 'SUCCESS'
}

/** Groups in the order of `UPDATE_STATUSES`, without empty ones. Ids are in the order sent (D-27). */
export function groupByStatus(
  statuses: readonly (readonly [echo: string, UpdateStatus])[],
): EntitlementUpdate[] {
  const groups = UPDATE_STATUSES.map(status => ({
    status,
    ids: statuses.filter(([, each]) => each === status).map(([echo]) => echo),
  }))
  return groups.filter(group => group.ids.length > 0)
}

/** `last_updated` moves forward at every success, even if the clock does not (D-28). In milliseconds. */
export function movedForward(previous: number, now: number): number {
  return previous < now ? now : previous + 1
}
