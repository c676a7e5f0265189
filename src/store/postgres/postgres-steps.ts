import { splitStatements } from '../sql/statements.ts'

/**
 * A step of a migration on PostgreSQL. Statements that change tables form one transaction. An index of an existing table is
 * built or dropped concurrently, as a separate step, because that is not possible inside a transaction. An update of a
 * limited number of rows is repeated until no row is left, each time in a transaction, so that it never locks many rows.
 */
export type Step =
  | { readonly kind: 'transaction'; readonly statements: readonly string[] }
  | { readonly kind: 'repeat'; readonly statement: string }
  | {
      readonly kind: 'build' | 'drop'
      readonly index: string
      readonly statement: string
    }

const BUILD = /^create (unique )?index if not exists (\w+)\s+on (\w+)/
const DROP = /^drop index if exists (\w+)$/
const LIMITED = /^update (\w+) [\s\S]* limit [0-9]+\)$/
const TABLE = /^create table if not exists (\w+)/

/** The steps of a migration, in its order. */
export function splitSteps(text: string): Step[] {
  const steps: Step[] = []
  const created = new Set<string>()
  let statements: string[] = []
  const endTransaction = () => {
    if (statements.length > 0) steps.push({ kind: 'transaction', statements })
    statements = []
  }
  for (const statement of splitStatements(text)) {
    const table = TABLE.exec(statement)?.[1]
    if (table !== undefined) created.add(table)
    const separate: Step | undefined = LIMITED.test(statement)
      ? { kind: 'repeat', statement }
      : indexStep(statement, created)
    if (separate === undefined) statements.push(statement)
    else {
      endTransaction()
      steps.push(separate)
    }
  }
  endTransaction()
  return steps
}

/** Undefined if the statement fits into a transaction. That includes indexes of tables created by the same migration. */
function indexStep(statement: string, created: ReadonlySet<string>): Step | undefined {
  const [, unique = '', index, table] = BUILD.exec(statement) ?? []
  if (index !== undefined && table !== undefined) {
    if (created.has(table)) return undefined
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

/** A short description for progress lines. */
export function describeStep(step: Step): string {
  if (step.kind === 'repeat') return `update ${LIMITED.exec(step.statement)?.[1]}`
  if (step.kind !== 'transaction') return `${step.kind} index ${step.index}`
  const [first = ''] = step.statements
  const [words = ''] = first.split(/[\n(]/)
  const more = step.statements.length - 1
  return more === 0 ? words.trim() : `${words.trim()} and ${more} more`
}
