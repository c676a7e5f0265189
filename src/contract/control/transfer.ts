import type { Static } from 'typebox'
import { controlOperation } from '../operation.ts'
import { exampleLines, transferLines } from '../resources/transfer.ts'
import { Type } from '../schema.ts'

const AnyLine = Type.Union(Object.values(transferLines), {
  title: 'TransferLine',
  description: 'A line of an import or export.',
})

const Count = Type.Integer({ minimum: 0 })
const Counts = Type.Object({ created: Count, changed: Count, unchanged: Count })

export const ImportEvent = Type.Union(
  [
    Type.Object({
      progress: Type.Object({
        lines: Type.Integer({ minimum: 0, description: 'Lines processed so far.' }),
        of: Type.Optional(Type.Integer({ minimum: 0, description: 'Total number of lines, if known.' })),
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
        lines: Count,
        skipped: Count,
        types: Type.Record(Type.String(), Counts),
        dry_run: Type.Boolean(),
        seconds: Type.Number({ minimum: 0 }),
        lines_per_second: Count,
      }),
    }),
  ],
  {
    title: 'ImportEvent',
    description: 'A line of the answer to an import. A summary or a failure is the last.',
  },
)

export type ImportEvent = Static<typeof ImportEvent>

const yesOrNo = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }))

/** Export and import of everything that operators manage. */
export const exportLines = controlOperation('GET /control/export', {
  id: 'ExportLines',
  summary: 'Export everything as JSON lines that ImportLines accepts.',
  description:
    'The lines are one consistent snapshot of the store, in a deterministic order, without secrets. See docs/transfer.md.',
  answerLines: AnyLine,
  problems: ['no_room'],
  example: { answer: exampleLines },
})

export const importLines = controlOperation('POST /control/import', {
  id: 'ImportLines',
  summary: 'Create or update everything in the lines of the body.',
  description:
    'An invalid line fails the request with the line number before anything is changed. The answer is a stream of lines: progress, then a summary, or a failure as the last line. Sending the same body again is safe. See docs/transfer.md.',
  query: Type.Object({
    continue: yesOrNo('Skip invalid lines and report each.'),
    dry_run: yesOrNo('Check the lines without changing anything.'),
    from_line: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Start at this line; earlier lines are in the store already.',
      }),
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
