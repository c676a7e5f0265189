import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { CONTENT_LABELS, MATURE_GAME } from '../resources/content-label.ts'
import { IdFilter, WITHOUT_DIRECTION } from '../resources/id.ts'
import { optional, Type } from '../schema.ts'

const Label = Type.Union([Type.String(), Type.Object({ id: Type.String(), is_enabled: Type.Boolean() })], {
  description: 'A label with its new state, or the id of a label to switch on.',
  hint: 'a label id, or an object with id and is_enabled',
})

/** Decisions D-78 to D-82. */
export const modifyChannelInformation = defineOperation('PATCH /helix/channels', {
  id: 'ModifyChannelInformation',
  summary: "Update the user's channel; omitted fields keep their value.",
  description:
    'All fields are changed, or none. A live stream and its video show the change immediately. `null` counts as omitted.',
  access: user('channel:manage:broadcast'),
  query: Type.Object({ broadcaster_id: IdFilter }),
  body: Type.Object({
    ...optional({
      title: Type.String({ minLength: 1, maxLength: 140, ...WITHOUT_DIRECTION, nullIsAbsent: true }),
      game_id: Type.String({ description: 'Empty or `0`: no game.', nullIsAbsent: true, numberIsText: true }),
      broadcaster_language: Type.String({
        pattern: '^([a-zA-Z]{2}|[oO][tT][hH][eE][rR])$',
        hint: 'an ISO 639-1 code of two letters, or "other"',
        nullIsAbsent: true,
      }),
      tags: Type.Array(Type.String(), {
        description: 'At most 10, each of 1 to 25 letters or digits.',
        nullIsAbsent: true,
      }),
      delay: Type.Integer({
        minimum: 0,
        maximum: 900,
        description: 'Seconds; more than 0 for partners only. A string of digits is accepted too.',
        nullIsAbsent: true,
        digitsAreInteger: true,
      }),
      content_classification_labels: Type.Array(Label, {
        description: `Labels that are not listed keep their state. Labels: ${CONTENT_LABELS.map(label => `\`${label}\``).join(', ')}; \`${MATURE_GAME}\` follows the channel's mature setting.`,
        nullIsAbsent: true,
      }),
      is_branded_content: Type.Boolean({ nullIsAbsent: true }),
    }),
  }),
  problems: [
    'nothing_to_update',
    'invalid_game_id',
    'not_partnered',
    'identity_mismatch',
    'mature_label_fixed',
  ],
  example: {
    query: { broadcaster_id: '141981764' },
    body: {
      title: 'First light over the reef',
      game_id: '33214',
      tags: ['Relaxed'],
      content_classification_labels: [{ id: 'Gambling', is_enabled: true }],
    },
  },
})
