/**
 * A value that may be there already. To wait for one that is costs more than most of the work on a request, so whatever
 * can be told at once is, and what comes next goes on from either.
 */
export type MaybePromise<T> = T | Promise<T>

export function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
