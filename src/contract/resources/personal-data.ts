import type { Static } from 'typebox'
import { orNull, Type } from '../schema.ts'
import { TimeMillis } from './id.ts'

const Count = Type.Integer({ minimum: 0 })

const Media = Type.Object({
  video_id: Type.String(),
  kind: Type.Enum(['recording', 'thumbnail']),
  url: Type.String({ description: 'Where it can be downloaded.' }),
  place: Type.Enum(['disk', 'object storage', 'another node', 'another server']),
  bytes: orNull(Count, 'Null: the file cannot be reached from here.'),
})

/** A line of the export of a user. The first is `person`, the last `summary`. */
export const PersonalLine = Type.Union(
  [
    Type.Object({
      person: Type.Object({ id: Type.String(), login: Type.String(), exported_at: TimeMillis }),
    }),
    Type.Object({
      table: Type.String({ description: 'A table of docs/schema.md.' }),
      row: Type.Record(Type.String(), Type.Unknown(), {
        description: 'Its columns. Secrets are `withheld`.',
      }),
    }),
    Type.Object({ media: Media }),
    Type.Object({
      summary: Type.Object({
        rows: Type.Record(Type.String(), Count, { description: 'Rows by table.' }),
        media_files: Count,
        media_bytes: Count,
        left_out: Type.Array(Type.Object({ table: Type.String(), reason: Type.String() }), {
          description: 'Tables that the export does not read.',
        }),
      }),
    }),
  ],
  { title: 'PersonalLine', description: 'A line of the export of a user.' },
)
export type PersonalLine = Static<typeof PersonalLine>
export type PersonalMedia = Static<typeof Media>

export const examplePersonalLines: PersonalLine[] = [
  { person: { id: '141981764', login: 'lunar_otter', exported_at: '2026-03-01T12:00:00.250Z' } },
  {
    table: 'follows',
    row: { user_id: '141981764', broadcaster_id: '25009227', followed_at: '2026-02-01T09:30:00Z' },
  },
  {
    media: {
      video_id: '2301770125',
      kind: 'recording',
      url: 'https://strand.example.org/videos/2301770125.mp4',
      place: 'disk',
      bytes: 734003200,
    },
  },
  {
    summary: {
      rows: { follows: 1 },
      media_files: 1,
      media_bytes: 734003200,
      left_out: [{ table: 'games', reason: 'It has no data about users.' }],
    },
  },
]
