import type { FAULT_OUTCOMES } from '../contract/control/demo.ts'

export interface Fault {
  readonly operation: string
  readonly entitlement_id?: string | undefined
  readonly outcome: (typeof FAULT_OUTCOMES)[number]
  times: number
}

/** Failures planned by the operator of a demo, each used up after so many times. */
export class Faults {
  #planned: Fault[] = []

  plan(fault: Fault): void {
    this.#planned.push({ ...fault })
  }

  clear(): void {
    this.#planned = []
  }

  /** The next planned failure of a whole call, used up once by asking. */
  take(operation: string): Fault['outcome'] | undefined {
    return this.#use(fault => fault.operation === operation && fault.outcome !== 'update_failed')?.outcome
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
