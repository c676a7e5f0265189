/**
 * A value or a promise of it. Awaiting a value that is already available costs more than most of the work on a request, so
 * synchronous results are passed on without a promise.
 */
export type MaybePromise<T> = T | Promise<T>

export function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
