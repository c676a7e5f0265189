import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { TimeMillis } from './id.ts'

/** Media servers that Strand understands, by the name of their adapter. */
export const ADAPTERS = ['nginx-rtmp', 'mediamtx', 'srs', 'node-media-server', 'generic'] as const
export type AdapterName = (typeof ADAPTERS)[number]

export const MEDIA_SERVER_NAME = {
  pattern: '^[a-z0-9-]{1,40}$',
  hint: '1 to 40 lower-case letters, digits or hyphens',
} as const

const HOST = 'https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?'
const PATH = '[A-Za-z0-9._~:%/-]*'

/** Where viewers find the HLS playlist of a channel (D-159). Neither user nor query: every viewer sees it. */
export const PLAYBACK_URL = {
  pattern: `^(?:${HOST})?/(?!/)${PATH}(?:\\{login\\}${PATH})?$`,
  maxLength: 500,
  hint: 'an http or https URL or a path of this host, with {login} once in its path, without user, query and fragment',
} as const

/** A media server that reports its publishers. */
export const MediaServer = resource('MediaServer', 'A media server that reports its publishers.', {
  name: Type.String(),
  adapter: Type.Enum(ADAPTERS),
  api_url: orNull(
    Type.String(),
    'Where the API of the media server is; null: it has none that Strand may use.',
  ),
  playback_url: orNull(
    Type.String(),
    'Where viewers find the HLS playlist of a channel, with `{login}` in place of its login; null: its broadcasts do not play on the pages of channels.',
  ),
  user_id: orNull(
    Type.String(),
    'The channel of a media server that has only one; its `playback_url` needs no `{login}`.',
  ),
  created_at: TimeMillis,
})
export type MediaServer = Static<typeof MediaServer>

/** With the secret when it is created or replaced, and never again. */
export const MediaServerWithSecret = resource(
  'MediaServerWithSecret',
  'A media server, with its secret when that is created or replaced.',
  {
    ...MediaServer.properties,
    secret: Type.Optional(Type.String()),
  },
)

export const exampleMediaServer: MediaServer = {
  name: 'edge-1',
  adapter: 'nginx-rtmp',
  api_url: 'http://127.0.0.1:8088',
  playback_url: 'https://media.example.org/hls/{login}.m3u8',
  user_id: null,
  created_at: '2026-03-01T12:00:00.250Z',
}
