import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { listing } from '../page.ts'
import { exampleFoundChannel, FoundChannel } from '../resources/found-channel.ts'
import { Type } from '../schema.ts'

/** Decisions D-61, D-64, D-86, D-87. */
export const searchChannels = defineOperation('GET /helix/search/channels', {
  id: 'SearchChannels',
  summary: 'Find channels by the beginning of their login or display name.',
  description:
    'Case does not matter, and a space of the query may stand for `_` or for nothing. The channel whose login is the query comes first, then the others by login.',
  access: anyToken,
  query: Type.Object({
    query: Type.String({ maxLength: 500, description: 'The beginning of a name.' }),
    live_only: Type.Optional(
      Type.String({
        pattern: '^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
        hint: 'true or false',
        description:
          '`true`: only live channels, also those whose game begins with the query. Case-insensitive (default: false).',
        examples: ['true'],
      }),
    ),
  }),
  ...listing(FoundChannel),
  example: {
    query: { query: 'lunar', live_only: 'true' },
    answer: { data: [exampleFoundChannel], pagination: {} },
  },
})
