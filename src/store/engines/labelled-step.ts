import type { Step } from './postgres-steps.ts'

/** A step, and its name in progress lines. */
export interface LabelledStep {
  readonly label: string
  readonly step: Step
}

export const transaction = (label: string, statements: readonly string[]): LabelledStep => ({
  label,
  step: { kind: 'transaction', statements },
})

/** Builds an index of a table that is in use. */
export const buildIndex = (index: string, statement: string): LabelledStep => ({
  label: `build index ${index}`,
  step: {
    kind: 'build',
    index,
    statement: statement.replace(/^create (unique )?index/, 'create $1index concurrently'),
  },
})

export const dropIndex = (index: string): LabelledStep => ({
  label: `drop index ${index}`,
  step: { kind: 'drop', index, statement: `drop index concurrently if exists ${index}` },
})
