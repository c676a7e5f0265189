/**
 * A value or a promise of it. Awaiting a value that is already available costs about two microseconds of a request, here and
 * in the runtime's server. Every request passes through `http/`, `store/` and the look-up of its caller, so these return what
 * they know without a promise. Handlers are plain `async` functions, except those of frequent reads, where a promise is a
 * measurable part of a request: GetStreams, GetFollowedStreams, GetStreamKey, GetStreamMarkers, GetDropsEntitlements,
 * GetChannelFollowers, ValidateToken, and look-ups by value.
 */
export type MaybePromise<T> = T | Promise<T>

export function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
