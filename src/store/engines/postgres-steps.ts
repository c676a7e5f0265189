import { statementsOf } from '../sql/statements.ts'

/**
 * A step of a migration on PostgreSQL. Statements that change tables are one transaction, so that nobody sees half of it.
 * An index of a table that is in use is built or dropped by itself, in the way that keeps nobody waiting; that cannot be part
 * of a transaction.
 */
export type Step =
  | { readonly kind: 'transaction'; readonly statements: readonly string[] }
  | {
      readonly kind: 'build' | 'drop'
      readonly index: string
      readonly statement: string
    }

const BUILD = /^create (unique )?index if not exists (\w+)\s+on (\w+)/
const DROP = /^drop index if exists (\w+)$/
const TABLE = /^create table if not exists (\w+)/

/** The steps of a migration, in its order. */
export function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  const made = new Set<string>()
  let statements: string[] = []
  const endTransaction = () => {
    if (statements.length > 0) steps.push({ kind: 'transaction', statements })
    statements = []
  }
  for (const statement of statementsOf(text)) {
    const table = TABLE.exec(statement)?.[1]
    if (table !== undefined) made.add(table)
    const alone = indexStep(statement, made)
    if (alone === undefined) statements.push(statement)
    else {
      endTransaction()
      steps.push(alone)
    }
  }
  endTransaction()
  return steps
}

/** A table that the same migration makes is used by nobody yet: its indexes come with it. */
function indexStep(statement: string, made: ReadonlySet<string>): Step | undefined {
  const [, unique = '', index, table] = BUILD.exec(statement) ?? []
  if (index !== undefined && table !== undefined) {
    if (made.has(table)) return undefined
    return {
      kind: 'build',
      index,
      statement: statement.replace(/^create (unique )?index/, `create ${unique}index concurrently`),
    }
  }
  const dropped = DROP.exec(statement)?.[1]
  if (dropped === undefined) return undefined
  return { kind: 'drop', index: dropped, statement: `drop index concurrently if exists ${dropped}` }
}

/** A step in a few words, for people who wait for it. */
export function describeStep(step: Step): string {
  if (step.kind !== 'transaction') return `${step.kind} index ${step.index}`
  const [first = ''] = step.statements
  const [words = ''] = first.split(/[\n(]/)
  const more = step.statements.length - 1
  return more === 0 ? words.trim() : `${words.trim()} and ${more} more`
}
