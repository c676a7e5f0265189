import { AsyncLocalStorage } from 'node:async_hooks'

/** The state of the request that the running code belongs to, available anywhere in the program. */
export interface RequestScope {
  /** The store has already answered a query of this request. Rejecting its next query would waste that work. */
  hasRead: boolean
}

const scopes = new AsyncLocalStorage<RequestScope>()

/** Runs the code that handles a request. */
export function asRequest<T>(work: () => T): T {
  return scopes.run({ hasRead: false }, work)
}

/** Undefined outside requests. */
export function requestScope(): RequestScope | undefined {
  return scopes.getStore()
}
