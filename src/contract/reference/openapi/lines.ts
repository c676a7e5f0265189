import type { TSchema } from 'typebox'
import type { Json, Schemas } from './schemas.ts'

/** JSON lines, as text whose content is of the media type; `contentSchema` is that of each line. */
export function linesContent(line: TSchema, example: unknown, schemas: Schemas): Json {
  const lines = Array.isArray(example) ? example.map(each => `${JSON.stringify(each)}\n`) : []
  return {
    'application/x-ndjson': {
      schema: {
        type: 'string',
        description: 'One JSON document per line, each as in `contentSchema`.',
        contentMediaType: 'application/x-ndjson',
        contentSchema: schemas.use(line),
      },
      ...(lines.length > 0 && { example: lines.join('') }),
    },
  }
}
