import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { GivenTime } from '../resources/id.ts'
import { ExtraKeyName, ExtraStreamKey, exampleExtraKey, StreamKey } from '../resources/stream.ts'
import { exampleUser } from '../resources/user.ts'
import { Type } from '../schema.ts'

const path = { user_id: exampleUser.id }

/** Stream keys: extra ones, for a guest or a second encoder, beside the main key of a channel (D-120). */
export const createStreamKey = controlOperation('POST /control/channels/{user_id}/stream-keys', {
  id: 'CreateStreamKey',
  summary: 'Add an extra stream key to a channel, for a guest or a second encoder.',
  body: Type.Object({
    name: ExtraKeyName,
    valid_until: Type.Optional(
      Type.String({ ...GivenTime, description: 'Default: valid until it is deleted.' }),
    ),
  }),
  returns: singleSchema(Type.Object({ ...ExtraStreamKey.properties, ...StreamKey.properties })),
  problems: ['not_found', 'taken', 'too_many_stream_keys', 'refused_reference'],
  example: {
    params: path,
    body: { name: exampleExtraKey.name, valid_until: '2026-03-08T12:00:00Z' },
    answer: { data: [{ ...exampleExtraKey, stream_key: '<STREAM_KEY>' }] },
  },
})

export const listStreamKeys = controlOperation('GET /control/channels/{user_id}/stream-keys', {
  id: 'ListStreamKeys',
  summary: 'List the extra stream keys of a channel by name, without the keys.',
  description: 'Expired keys are listed until they are swept.',
  ...listing(ExtraStreamKey),
  problems: ['not_found'],
  example: { params: path, answer: { data: [exampleExtraKey], pagination: {} } },
})

export const readStreamKey = controlOperation('GET /control/channels/{user_id}/stream-key', {
  id: 'ReadStreamKey',
  summary: 'Get the stream key of a channel, or one of its extra keys.',
  query: Type.Object({
    name: Type.Optional(Type.String({ description: 'Name of an extra key. Default: the main key.' })),
  }),
  returns: singleSchema(StreamKey),
  problems: ['not_found', 'name_not_found'],
  example: { params: path, answer: { data: [{ stream_key: '<STREAM_KEY>' }] } },
})

export const deleteStreamKey = controlOperation('DELETE /control/channels/{user_id}/stream-keys/{name}', {
  id: 'DeleteStreamKey',
  summary: 'Delete an extra stream key. A running broadcast is not interrupted.',
  problems: ['name_not_found'],
  example: { params: { ...path, name: exampleExtraKey.name } },
})
