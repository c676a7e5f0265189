import { formatThousands } from '../format-thousands.ts'
import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { Channel, channelSettings, exampleChannel, MAX_EDITORS, Title } from '../resources/channel.ts'
import { DecimalId, GivenTime, IdFilter } from '../resources/id.ts'
import { exampleStream, Stream, StreamKey } from '../resources/stream.ts'
import { exampleUser, User } from '../resources/user.ts'
import { Type } from '../schema.ts'

const path = { user_id: exampleUser.id }
const one = { data: [exampleChannel] }
const live = { data: [exampleStream] }

/** Channels: title and other metadata, editors, stream key and stream. */
export const getChannel = controlOperation('GET /control/channels/{user_id}', {
  id: 'GetChannel',
  summary: 'Get a channel.',
  returns: singleSchema(Channel),
  problems: ['not_found'],
  example: { params: path, answer: one },
})

export const patchChannel = controlOperation('PATCH /control/channels/{user_id}', {
  id: 'PatchChannel',
  summary: 'Update a channel; omitted fields keep their value. A live stream shows the change immediately.',
  body: Type.Object({
    title: Type.Optional(Title),
    game_id: Type.Optional(
      Type.Union([DecimalId, Type.Literal(''), Type.Null()], { description: 'Empty or null: no game.' }),
    ),
    ...channelSettings,
  }),
  returns: singleSchema(Channel),
  problems: ['not_found', 'unknown_reference'],
  example: { params: path, body: { title: exampleChannel.title }, answer: one },
})

export const putEditor = controlOperation('PUT /control/channels/{user_id}/editors/{editor_id}', {
  id: 'PutEditor',
  summary: 'Make a user an editor of the channel.',
  description: `A channel has at most ${formatThousands(MAX_EDITORS)} editors. Of an existing editor only the time changes, if one is given.`,
  body: Type.Object({ created_at: Type.Optional(GivenTime) }),
  problems: ['not_found', 'in_use', 'refused_reference'],
  example: { params: { ...path, editor_id: '25009227' }, body: { created_at: '2026-02-20T08:15:00Z' } },
})

export const deleteEditor = controlOperation('DELETE /control/channels/{user_id}/editors/{editor_id}', {
  id: 'DeleteEditor',
  summary: 'Remove an editor from the channel.',
  problems: ['not_found'],
  example: { params: { ...path, editor_id: '25009227' } },
})

export const listEditors = controlOperation('GET /control/channels/{user_id}/editors', {
  id: 'ListEditors',
  summary: 'List the editors of the channel.',
  ...listing(User),
  problems: ['not_found'],
  example: { params: path, answer: { data: [exampleUser], pagination: {} } },
})

export const startStream = controlOperation('PUT /control/channels/{user_id}/stream', {
  id: 'StartStream',
  summary: 'Start the stream of a channel. If the channel is live already, the current stream is returned.',
  body: Type.Object({
    started_at: Type.Optional(GivenTime),
    viewer_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_000_000_000 })),
  }),
  returns: singleSchema(Stream),
  problems: ['not_found', 'user_suspended', 'refused_reference'],
  example: { params: path, body: { viewer_count: 478 }, answer: live },
})

export const getStream = controlOperation('GET /control/channels/{user_id}/stream', {
  id: 'GetStream',
  summary: 'Get the live stream of a channel.',
  returns: singleSchema(Stream),
  problems: ['not_found', 'not_live'],
  example: { params: path, answer: live },
})

export const endStream = controlOperation('DELETE /control/channels/{user_id}/stream', {
  id: 'EndStream',
  summary: 'End the live stream at once, and disconnect its publisher; its video is kept.',
  problems: ['not_found', 'not_live'],
  example: { params: path },
})

export const kickPublisher = controlOperation('DELETE /control/channels/{user_id}/publisher', {
  id: 'KickPublisher',
  summary: 'Disconnect the publisher of a channel; its stream ends if none returns within the grace period.',
  description:
    'The publisher is disconnected soon after the answer, usually within a second, by the embedded media server or through the API of another one. An encoder may reconnect: rotate the stream key first to keep it out.',
  problems: ['not_found', 'no_publisher'],
  example: { params: path },
})

export const rotateStreamKey = controlOperation('POST /control/channels/{user_id}/stream-key/rotate', {
  id: 'RotateStreamKey',
  summary:
    'Replace the stream key; the old key stays valid for the grace period. A running broadcast is not interrupted.',
  body: Type.Object({
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'Seconds for which the old key stays valid (default: 0).',
      }),
    ),
  }),
  returns: singleSchema(StreamKey),
  problems: ['not_found'],
  example: { params: path, body: { grace_seconds: 60 }, answer: { data: [{ stream_key: '<STREAM_KEY>' }] } },
})

export const listStreams = controlOperation('GET /control/streams', {
  id: 'ListStreams',
  summary: 'List all live streams, most viewers first.',
  query: Type.Object({ game_id: Type.Optional(IdFilter) }),
  ...listing(Stream),
  example: { answer: { ...live, pagination: {} } },
})
