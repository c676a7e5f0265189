import { operator } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { exampleLines, transferLines } from '../resources/transfer.ts'
import { Type } from '../schema.ts'

const AnyLine = Type.Union(Object.values(transferLines))

const Counts = Type.Object({
  created: Type.Integer({ minimum: 0 }),
  changed: Type.Integer({ minimum: 0 }),
  unchanged: Type.Integer({ minimum: 0 }),
})

export const ImportEvent = Type.Union([
  Type.Object({
    progress: Type.Object({
      lines: Type.Integer({ minimum: 0, description: 'How many are done.' }),
      of: Type.Optional(
        Type.Integer({ minimum: 0, description: 'How many there are, where that is known.' }),
      ),
    }),
  }),
  Type.Object({
    skipped: Type.Object({ line: Type.Integer({ minimum: 1 }), message: Type.String() }),
  }),
  Type.Object({
    failure: Type.Object({ error: Type.String(), status: Type.Integer(), message: Type.String() }),
  }),
  Type.Object({
    summary: Type.Object({
      lines: Type.Integer({ minimum: 0 }),
      skipped: Type.Integer({ minimum: 0 }),
      types: Type.Record(Type.String(), Counts),
      dry_run: Type.Boolean(),
      seconds: Type.Number({ minimum: 0 }),
      lines_per_second: Type.Integer({ minimum: 0 }),
    }),
  }),
])

const yesOrNo = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }))

/** Everything that the operator has made, out of one store and into another. */
export const exportLines = defineOperation('GET /control/export', {
  id: 'ExportLines',
  summary: 'Writes down everything, as lines of JSON that ImportLines takes.',
  description:
    'The lines are one consistent state of the store, in an order that depends on nothing else. Secrets are not among them. See docs/transfer.md.',
  access: operator,
  answerLines: AnyLine,
  problems: ['no_room'],
  example: { answer: exampleLines },
})

export const importLines = defineOperation('POST /control/import', {
  id: 'ImportLines',
  summary: 'Makes or changes everything that the lines of the body tell of.',
  description:
    'A line that is wrong is answered with its number before anything is changed. The answer is lines too: progress as it goes, at the end a summary; a failure on the way is its last line. The same body may be sent again. See docs/transfer.md.',
  access: operator,
  query: Type.Object({
    continue: yesOrNo('Leaves out lines that are wrong, and tells each.'),
    dry_run: yesOrNo('Only checks.'),
    from_line: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Begins at this line; those before are in the store.' }),
    ),
  }),
  bodyLines: AnyLine,
  answerLines: ImportEvent,
  problems: ['wrong_line', 'no_room'],
  example: {
    body: exampleLines,
    answer: [
      { progress: { lines: 3, of: 3 } },
      {
        summary: {
          lines: 3,
          skipped: 0,
          types: {
            organization: { created: 1, changed: 0, unchanged: 0 },
            user: { created: 1, changed: 0, unchanged: 0 },
            game: { created: 1, changed: 0, unchanged: 0 },
          },
          dry_run: false,
          seconds: 0.012,
          lines_per_second: 250,
        },
      },
    ],
  },
})
