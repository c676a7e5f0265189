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

/** Why a fault cannot be planned, as a sentence; undefined if it can. */
export function violationIn({
  operation,
  outcome,
  milliseconds,
}: Pick<Fault, 'operation' | 'outcome' | 'milliseconds'>): string | undefined {
  const broken = operations.find(each => each.id === operation)
  if (broken === undefined)
    return `There is no operation called "${operation}"; the reference lists them all.`
  const isLimited = problemsOf(broken).has('rate_limited') || problemsOf(broken).has('too_many_requests')
  if (outcome === 'rate_limited' && !isLimited) return `The operation ${broken.id} is not rate limited.`
  if (outcome === 'update_failed' && operation !== 'UpdateDropsEntitlements')
    return 'The outcome update_failed belongs to UpdateDropsEntitlements.'
  if (outcome !== 'slow' && milliseconds !== undefined)
    return 'The field milliseconds belongs to the outcome slow.'
  return undefined
}

/** Failures planned by the operator of a demo, each used up after so many times. */
export class Faults {
  #planned: Fault[] = []

  plan(fault: Fault): void {
    this.#planned.push({ ...fault, entitlement_id: fault.entitlement_id?.toLowerCase() })
  }

  /** Those that are not used up. */
  get planned(): readonly Fault[] {
    return this.#planned
  }

  clear(): void {
    this.#planned = []
  }

  /** The next planned failure of a whole call, used up once by asking. */
  take(operation: string): Fault | undefined {
    return this.#use(fault => fault.operation === operation && fault.outcome !== 'update_failed')
  }

  /** Which of these entitlements shall fail to be written. */
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
