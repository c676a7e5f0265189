import { EVENT_TYPES } from '../../contract/events/event-types.ts'
import { operations } from '../../contract/index.ts'
import { familyOf, listProblems, type Operation, queryParameters } from '../../contract/operation.ts'
import type { ProblemName } from '../../contract/problem.ts'
import {
  type Fault,
  MAX_FAULTS,
  MESSAGE_OUTCOMES,
  type MessageOutcome,
} from '../../contract/resources/fault.ts'
import { nearestName } from '../../kit/nearest.ts'
import { SeededRandom } from '../../kit/random.ts'

/** The names of the operations that faults apply to: those of clients, not those that control the demo. */
const CLIENT_OPERATIONS: readonly string[] = operations
  .filter(operation => familyOf(operation) !== 'control')
  .map(({ id }) => id)

const EVENT_NAMES: readonly string[] = [...new Set(EVENT_TYPES.map(({ type }) => type))]

/** Why a fault cannot be planned, as a sentence; undefined if it is valid. */
export function violationIn(fault: Fault): string | undefined {
  const { outcome } = fault
  const stray = Object.keys(FIELDS_OF_OUTCOMES).find(
    field => fault[field as keyof Fault] !== undefined && !FIELDS_OF_OUTCOMES[field]?.includes(outcome),
  )
  if (stray !== undefined)
    return `The field ${stray} is only valid with the outcome ${FIELDS_OF_OUTCOMES[stray]?.join(' or ')}.`
  if (outcome === 'update_failed' && fault.where !== undefined)
    return 'The field where is not valid with the outcome update_failed; use entitlement_id.'
  if (fault.seed !== undefined && fault.probability === undefined)
    return 'The field seed is only valid with probability.'
  return isMessageOutcome(outcome) ? messageViolation(fault, outcome) : callViolation(fault)
}

function callViolation({ operation: name, outcome, where = {} }: Fault): string | undefined {
  if (name === undefined) return `The field operation is required with the outcome ${outcome}.`
  const target = operations.find(each => each.id === name)
  if (target === undefined || !CLIENT_OPERATIONS.includes(name)) {
    const reason =
      target === undefined
        ? `There is no operation called "${name}"`
        : `The operation ${name} is one of the control API, to which faults do not apply`
    const nearest = nearestName(name, CLIENT_OPERATIONS)
    return nearest === undefined
      ? `${reason}; the reference lists those of Helix, drops, OAuth and playback.`
      : `${reason}; did you mean ${nearest}?`
  }
  const reason = unfitOutcome(target, outcome)
  if (reason !== undefined) return reason
  return unknownWhere(`The operation ${name}`, where, listInputNames(target))
}

function messageViolation({ operation, where = {} }: Fault, outcome: MessageOutcome): string | undefined {
  if (operation !== undefined)
    return `The field operation is not valid with the outcome ${outcome}, which applies to messages.`
  const fields = ['type', 'subscription_id', ...(outcome === 'socket_silent' ? ['session_id'] : [])]
  const unknown = unknownWhere('A message', where, fields)
  const { type } = where
  if (unknown !== undefined || type === undefined || EVENT_NAMES.includes(String(type))) return unknown
  return `There is no type of event called "${type}"; the types are ${EVENT_NAMES.join(', ')}.`
}

function unknownWhere(owner: string, where: object, fields: readonly string[]): string | undefined {
  const unknown = Object.keys(where).find(each => !fields.includes(each))
  if (unknown === undefined) return undefined
  const known = fields.length === 0 ? 'it has none' : `it has ${fields.join(', ')}`
  return `${owner} has no parameter or field "${unknown}"; ${known}.`
}

function isMessageOutcome(outcome: Fault['outcome']): outcome is MessageOutcome {
  return (MESSAGE_OUTCOMES as readonly string[]).includes(outcome)
}

const FIELDS_OF_OUTCOMES: Readonly<Record<string, readonly Fault['outcome'][]>> = {
  entitlement_id: ['update_failed'],
  milliseconds: ['slow', 'answer_stalled'],
  bytes: ['answer_cut', 'answer_stalled'],
  retry_after: ['unavailable', 'rate_limited'],
}

function unfitOutcome(target: Operation, outcome: Fault['outcome']): string | undefined {
  if (outcome === 'token_invalid' && findTokenProblem(target) === undefined)
    return `The operation ${target.id} takes no token.`
  const needsJson = ['broken_json', 'answer_cut', 'answer_stalled'].includes(outcome)
  if (needsJson && target.returns === undefined)
    return `The operation ${target.id} does not answer with JSON.`
  if (outcome === 'update_failed' && target.id !== 'UpdateDropsEntitlements')
    return 'The outcome update_failed is only valid for UpdateDropsEntitlements.'
  return undefined
}

/** What an operation answers to a token that is not valid. */
export function findTokenProblem(
  operation: Operation,
): 'token_invalid' | 'operator_invalid' | 'invalid_access_token' | undefined {
  const problems: ReadonlySet<ProblemName> = listProblems(operation)
  return (['token_invalid', 'operator_invalid', 'invalid_access_token'] as const).find(each =>
    problems.has(each),
  )
}

/** The names that `where` may use. A body that is read as text has none. */
function listInputNames(operation: Operation): string[] {
  const { params, body, bodyFrom } = operation
  return [params, queryParameters(operation), bodyFrom === 'text' ? undefined : body].flatMap(schema =>
    Object.keys(schema?.properties ?? {}),
  )
}

type Input = Readonly<Record<string, unknown>>

/** A fault with the calls that are left. */
interface PlannedFault extends Fault {
  times: number
  skip: number
  readonly random: SeededRandom
}

/** Faults planned in demo mode. Every call counts for all that it matches, and at most one applies to it. */
export class Faults {
  #planned: readonly PlannedFault[] = []

  /** Whether there was room for it. */
  plan(fault: Fault): boolean {
    if (this.#planned.length >= MAX_FAULTS) return false
    const { times = 1, skip = 0, seed = 0 } = fault
    const entitlement_id = fault.entitlement_id?.toLowerCase()
    const planned = { ...fault, entitlement_id, times, skip, random: new SeededRandom(seed) }
    this.#planned = [...this.#planned, planned as PlannedFault]
    return true
  }

  /** The faults that still apply, with what is left of `skip` and `times`. */
  get pending(): Fault[] {
    return this.#planned.map(({ random: _, skip, ...fault }) => ({ ...fault, ...(skip > 0 && { skip }) }))
  }

  clear(): void {
    this.#planned = []
  }

  /** A copy to return to, and the function that does. */
  save(): () => void {
    const copy = () => this.#planned.map(fault => ({ ...fault, random: fault.random.clone() }))
    const saved = copy()
    return () => {
      this.#planned = saved.map(fault => ({ ...fault, random: fault.random.clone() }))
    }
  }

  /** Whether a fault is planned for calls of this operation. */
  concern(operation: string): boolean {
    return this.#planned.some(fault => fault.operation === operation && fault.outcome !== 'update_failed')
  }

  /** Counts a call, and consumes the fault that applies to it. */
  take(operation: string, input: Input): Fault | undefined {
    return this.#count(
      fault =>
        fault.operation === operation && fault.outcome !== 'update_failed' && matches(fault.where, input),
    )
  }

  /** Counts a message, and consumes the fault of one of these outcomes that applies to it. */
  takeMessage(outcomes: readonly MessageOutcome[], message: Input): MessageOutcome | undefined {
    const isConcerned = ({ outcome }: Fault) => isMessageOutcome(outcome) && outcomes.includes(outcome)
    const taken = this.#count(fault => isConcerned(fault) && matches(fault.where, message))
    return taken?.outcome as MessageOutcome | undefined
  }

  /** Consumes the faults of single entitlements, and returns the ids whose update fails. */
  failing(operation: string, ids: readonly string[]): string[] {
    return ids.filter(
      id =>
        this.#count(
          fault =>
            fault.operation === operation &&
            fault.outcome === 'update_failed' &&
            (fault.entitlement_id === undefined || fault.entitlement_id === id),
        ) !== undefined,
    )
  }

  #count(applies: (fault: Fault) => boolean): Fault | undefined {
    let struck: PlannedFault | undefined
    for (const fault of this.#planned) {
      if (!applies(fault)) continue
      if (fault.skip > 0) fault.skip -= 1
      else if (struck === undefined && fault.random.next() < (fault.probability ?? 1)) struck = fault
    }
    if (struck === undefined) return undefined
    struck.times -= 1
    if (struck.times === 0) this.#planned = this.#planned.filter(each => each !== struck)
    return struck
  }
}

/** A list matches with one of its entries. */
function matches(where: Fault['where'], input: Input): boolean {
  return Object.entries(where ?? {}).every(([name, wanted]) =>
    [input[name]].flat().some(value => value !== undefined && String(value) === String(wanted)),
  )
}
