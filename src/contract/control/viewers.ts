import { controlOperation } from '../operation.ts'
import { MAX_REPORTED_CHANNELS, MAX_VIEWERS } from '../resources/stream.ts'
import { Type } from '../schema.ts'

export const reportViewers = controlOperation('POST /control/viewers', {
  id: 'ReportViewers',
  summary: 'Set the viewer counts of up to 10,000 channels; channels that are not live are ignored.',
  body: Type.Object({
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: MAX_VIEWERS }), {
      maxProperties: MAX_REPORTED_CHANNELS,
      size: 'at most 10,000 entries',
      description: 'Viewer count by user id.',
    }),
  }),
  bodyFrom: 'text',
  example: { body: { counts: { '141981764': 478 } } },
})
