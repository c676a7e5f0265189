import { AsyncLocalStorage } from 'node:async_hooks'

/** What is known of the request that the running code works for, wherever in the program that is. */
export interface RequestScope {
  /** The store has answered it something: what it asks next should not be refused, or that work was in vain. */
  hasRead: boolean
}

const scopes = new AsyncLocalStorage<RequestScope>()

/** Runs what answers a request. */
export function asRequest<T>(work: () => T): T {
  return scopes.run({ hasRead: false }, work)
}

/** Undefined for work that no request has asked for. */
export function requestScope(): RequestScope | undefined {
  return scopes.getStore()
}
