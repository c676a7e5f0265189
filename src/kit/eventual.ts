/**
 * A value that may be there already. To wait for one that is costs more than most of the work on a request, so whatever
 * can be told at once is, and what comes next goes on from either.
 */
export type Eventual<T> = T | Promise<T>

export function andThen<T, U>(value: Eventual<T>, next: (value: T) => Eventual<U>): Eventual<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
