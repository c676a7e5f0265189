import { listProblems, type Operation } from '../operation.ts'
import { type ProblemName, problems } from '../problem.ts'

/** The problems of an operation, by status. */
export function groupByStatus(operation: Operation): Map<number, ProblemName[]> {
  return byStatus([...listProblems(operation)])
}

export function byStatus(names: readonly ProblemName[]): Map<number, ProblemName[]> {
  const byStatus = Map.groupBy(names, name => problems[name].status as number)
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}
