/** Decides which standby may answer a read. */

/** A point in the log of the primary. */
export interface Position {
  readonly lsn: bigint
  /** Identifies the log: that of another primary may have the same position with other content. */
  readonly mark: string
}

/** What is known about one standby. */
export interface StandbyState {
  /** Whether its last probe found a standby. A server that does not answer is none. */
  readonly isStandby: boolean
  /** How far it had replayed the log at its last probe. */
  readonly replayed: bigint
  /** A read waited in vain until it had replayed this. */
  readonly awaited: bigint
  /** Not used before, after a failure; on the monotonic clock. */
  readonly restsUntil: number
  /** Reads in progress. */
  readonly running: number
}

/** The least busy of those that can be expected to answer; undefined if there is none. */
export function chooseStandby<S extends StandbyState>(standbys: readonly S[], now: number): S | undefined {
  const usable = standbys.filter(each => isUsable(each, now))
  const least = Math.min(...usable.map(({ running }) => running))
  return usable.find(({ running }) => running === least)
}

export function isUsable({ isStandby, replayed, awaited, restsUntil }: StandbyState, now: number): boolean {
  return isStandby && replayed >= awaited && now >= restsUntil
}

/** Whether a standby that has reached one position has everything that the primary had at another. */
export function hasReached(replayed: Position, wanted: Position): boolean {
  return replayed.mark === wanted.mark && replayed.lsn >= wanted.lsn
}
