import type { FAULT_OUTCOMES } from '../contract/control/demo.ts'
import { operations } from '../contract/index.ts'
import { problemsOf } from '../contract/operation.ts'

export interface Fault {
  readonly operation: string
  readonly entitlement_id?: string | undefined
  readonly outcome: (typeof FAULT_OUTCOMES)[number]
  readonly milliseconds?: number | undefined
  times: number
}

/** Why a fault cannot be planned, as a sentence; undefined if it is valid. */
export function violationIn({
  operation,
  outcome,
  milliseconds,
}: Pick<Fault, 'operation' | 'outcome' | 'milliseconds'>): string | undefined {
  const target = operations.find(each => each.id === operation)
  if (target === undefined)
    return `There is no operation called "${operation}"; the reference lists them all.`
  const isLimited = problemsOf(target).has('rate_limited') || problemsOf(target).has('too_many_requests')
  if (outcome === 'rate_limited' && !isLimited) return `The operation ${target.id} is not rate limited.`
  if (outcome === 'update_failed' && operation !== 'UpdateDropsEntitlements')
    return 'The outcome update_failed is only valid for UpdateDropsEntitlements.'
  if (outcome !== 'slow' && milliseconds !== undefined)
    return 'The field milliseconds is only valid with the outcome slow.'
  return undefined
}

/** Faults planned in demo mode. Each applies `times` times. */
export class Faults {
  #planned: Fault[] = []

  plan(fault: Fault): void {
    this.#planned.push({ ...fault, entitlement_id: fault.entitlement_id?.toLowerCase() })
  }

  /** The faults that still apply. */
  get planned(): readonly Fault[] {
    return this.#planned
  }

  clear(): void {
    this.#planned = []
  }

  /** Consumes the next fault that applies to a whole call. */
  take(operation: string): Fault | undefined {
    return this.#use(fault => fault.operation === operation && fault.outcome !== 'update_failed')
  }

  /** Consumes the faults of single entitlements, and returns the ids whose update fails. */
  failing(operation: string, ids: readonly string[]): string[] {
    return ids.filter(
      id =>
        this.#use(
          fault =>
            fault.operation === operation &&
            fault.outcome === 'update_failed' &&
            (fault.entitlement_id === undefined || fault.entitlement_id === id),
        ) !== undefined,
    )
  }

  #use(applies: (fault: Fault) => boolean): Fault | undefined {
    const fault = this.#planned.find(applies)
    if (fault === undefined) return undefined
    fault.times -= 1
    if (fault.times === 0) this.#planned = this.#planned.filter(each => each !== fault)
    return fault
  }
}
