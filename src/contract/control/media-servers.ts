import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { DecimalId } from '../resources/id.ts'
import {
  ADAPTERS,
  exampleMediaServer,
  MEDIA_SERVER_NAME,
  MediaServer,
  MediaServerWithSecret,
  PLAYBACK_URL,
} from '../resources/media-server.ts'
import { orNull, Type } from '../schema.ts'

const path = { name: exampleMediaServer.name }
const one = { data: [exampleMediaServer] }
const withSecret = { data: [{ ...exampleMediaServer, secret: '<MEDIA_SERVER_SECRET>' }] }

/** Media servers whose publishers make channels live. */
export const putMediaServer = controlOperation('PUT /control/media-servers/{name}', {
  id: 'PutMediaServer',
  summary: 'Create or update a media server; only the answer that creates it contains the secret.',
  description: 'The adapter of an existing media server cannot change.',
  params: Type.Object({ name: Type.String(MEDIA_SERVER_NAME) }),
  body: Type.Object({
    adapter: Type.Enum(ADAPTERS),
    api_url: Type.Optional(
      orNull(
        Type.String({
          pattern: '^https?://[!-~]{1,500}$',
          maxLength: 500,
          hint: 'an http or https URL',
          description: 'Where Strand finds the API of the media server.',
        }),
      ),
    ),
    playback_url: Type.Optional(
      orNull(
        Type.String({
          ...PLAYBACK_URL,
          description:
            'Where viewers find the HLS playlist of a channel: `{login}` stands for its login. Only a media server with a `user_id` may do without it.',
        }),
      ),
    ),
    user_id: Type.Optional(orNull(DecimalId)),
  }),
  returns: singleSchema(MediaServerWithSecret),
  problems: ['in_use', 'unknown_reference', 'refused_reference'],
  example: {
    params: path,
    body: {
      adapter: exampleMediaServer.adapter,
      api_url: exampleMediaServer.api_url,
      playback_url: exampleMediaServer.playback_url,
    },
    answer: withSecret,
  },
})

export const getMediaServer = controlOperation('GET /control/media-servers/{name}', {
  id: 'GetMediaServer',
  summary: 'Get a media server without its secret.',
  returns: singleSchema(MediaServer),
  problems: ['name_not_found'],
  example: { params: path, answer: one },
})

export const listMediaServers = controlOperation('GET /control/media-servers', {
  id: 'ListMediaServers',
  summary: 'List the media servers by name, without their secrets.',
  ...listing(MediaServer),
  example: { answer: { ...one, pagination: {} } },
})

export const rotateMediaServerSecret = controlOperation('POST /control/media-servers/{name}/rotate-secret', {
  id: 'RotateMediaServerSecret',
  summary: 'Replace the secret of a media server; the old one stays valid for the grace period.',
  body: Type.Object({
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'Seconds for which the old secret stays valid (default: 3600).',
      }),
    ),
  }),
  returns: singleSchema(MediaServerWithSecret),
  problems: ['name_not_found'],
  example: { params: path, body: { grace_seconds: 60 }, answer: withSecret },
})

export const deleteMediaServer = controlOperation('DELETE /control/media-servers/{name}', {
  id: 'DeleteMediaServer',
  summary: 'Remove a media server; its secret becomes invalid, and its broadcasts end.',
  problems: ['name_not_found'],
  example: { params: path },
})
