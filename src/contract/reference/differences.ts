/** What a client can notice of the difference between Strand and Twitch's servers, for docs/compatibility.md. */
import { EVENT_TYPES } from '../events/event-types.ts'

/** Where, and what is different. */
type Difference = readonly [where: string, difference: string]

/** Of every Helix operation. */
export const COMMON_DIFFERENCES: readonly Difference[] = [
  ['`Client-Id`', 'optional. If it is sent with a token, it must match the token.'],
  ['Paths', 'also served under `/mock`, where client libraries expect a local server.'],
  [
    'Unknown paths',
    'the message of a 404 names the operation that is not offered, the methods of the path, or the path that was probably meant. Operations that Helix has removed are 410.',
  ],
  [
    'Pages',
    'the last page never has a cursor. Cursors are bound to the caller and the filters of the request that returned them; with others they are 400.',
  ],
  [
    'Rate limits',
    'every request costs one point. 429 has `Retry-After` in addition to the `Ratelimit-` headers.',
  ],
  [
    'Images',
    'are [drawn from the id](self-hosting.md#pictures), PNG in any size up to 2048x2048; a URL whose placeholders were not replaced works too.',
  ],
  ['503', 'has `Retry-After`; the store cannot be reached, and a write may or may not have happened.'],
  ['Filters by id', 'an id of another form, such as a name, matches nothing.'],
]

/** By operation; an empty list where nothing but the above is different. */
export const DIFFERENCES: Readonly<Record<string, readonly string[]>> = {
  GetDropsEntitlements: [
    '`first` is 1 to 100; the real API accepts up to 1000.',
    'Rows have `updated_at` in addition to `last_updated`, with the same value.',
    'Newest first, always.',
  ],
  UpdateDropsEntitlements: [
    'The successful ids of a request are written together or not at all.',
    'Every id is in exactly one group, and the groups have a fixed order.',
  ],
  GetStreams: [
    'Needs no token. A token that is sent must be valid.',
    'A walk through the pages returns every stream that stays live exactly once, even though viewer counts change.',
    '`tag_ids` is always empty; tags are in `tags`.',
    'A `user_login` that cannot be a login matches nothing.',
  ],
  GetFollowedStreams: ['The same walk through the pages as GetStreams.'],
  GetStreamKey: ['A key is `live_<user id>_` and 30 letters or digits.'],
  CreateStreamMarker: [
    'Accepts an `Idempotency-Key`, so that a retried call does not create a second marker.',
    'The input may be in the query string, and `user_id` a JSON number.',
  ],
  GetStreamMarkers: [
    'Listed markers have `url` and `URL`, with the same value.',
    'A video without markers has its group, with an empty `markers`.',
  ],
  ExportStreamMarkers: ['Helix has no such operation: all markers of a video as a file.'],
  GetUsers: [
    'An `id` or `login` that cannot be one is absent; the real API refuses the whole request.',
    'Rows are in the order of the request.',
    '`type` and `offline_image_url` are `""`, and `view_count` is 0.',
  ],
  UpdateUser: [],
  GetGames: [
    'Names need not be unique: all games with a `name` are returned.',
    'Rows are in the order of the request.',
  ],
  GetTopGames: [
    'By the sum of viewers, then by id, both descending.',
    'The same walk through the pages as GetStreams, for games that stay live.',
  ],
  GetChannelInformation: [
    'A `broadcaster_id` that is not a number is absent; the real API refuses the whole request.',
    'Rows are in the order of the request.',
  ],
  ModifyChannelInformation: [
    '`tags: []` removes all tags; the real API ignores it.',
    'A title that is too long is 400, and so is an unknown `game_id`.',
    '`delay` may be a string of digits, and a label may be its id alone.',
  ],
  GetFollowedChannels: [],
  GetChannelFollowers: [
    "The channel's editors see the rows, in place of moderators.",
    '`total` needs no scope and no special token.',
  ],
  GetChannelEditors: ['Newest first.'],
  SearchChannels: [
    'The query is the beginning of a login or display name. The exact login comes first, then logins in order.',
    'Channels that have been silent for six months are found, too.',
    '`tag_ids` is always empty; tags are in `tags`.',
  ],
  SearchCategories: [
    'Every word of the query must be in the name. The exact name comes first, then names that start with the query.',
    '`box_art_url` has the placeholders `{width}x{height}`; the real API sends a fixed size.',
  ],
  GetVideos: [
    'Only archives exist: `highlight` and `upload` are empty, and `trending` orders like `views`.',
    '`language` also applies to `user_id`.',
    'The video of a running stream is listed, with its duration so far.',
  ],
  CreateEventSubSubscription: [
    `${EVENT_TYPES.length} [types](reference/events.md) exist, two of them only here: \`strand.entitlement.update\` and \`strand.marker.create\`. An unknown one is 400.`,
    '`transport.method` is `webhook` or `websocket`; there are no conduits.',
    'Editors of the channel may subscribe where the real API has moderators, such as to `channel.follow`.',
    'An id in the condition may be a JSON number. A field that the type does not have is 400, unless its value is empty or null.',
    'A server for a private network may allow http, other ports and private addresses in callbacks; a demo does.',
  ],
  GetEventSubSubscriptions: [
    'A subscription that has ended is listed with its status for as long as events are kept (30 days), and costs nothing.',
    '`total` counts all subscriptions of the caller, whatever the filter.',
  ],
  DeleteEventSubSubscription: ['Also deletes messages that have not been sent yet.'],
  DeleteVideos: ['Unknown ids are ignored. If one video belongs to another user, none is deleted.'],
}

export const TOKEN_DIFFERENCES: readonly Difference[] = [
  [
    'Formats',
    "tokens, codes and secrets have prefixes (`susr_`, `sapp_`, `sref_`, `scod_`, `ssec_`) and are longer than Twitch's.",
  ],
  ['PKCE', 'supported (`S256`), and required for public clients.'],
  ['Implicit grant', 'off unless the client is registered for it.'],
  [
    'Device flow',
    'on for public clients; off for confidential clients unless enabled, and then the token request needs the client secret.',
  ],
  [
    'Scopes',
    'any well-formed scope is granted; the consent page marks scopes that have no effect here. At most 50 per request.',
  ],
  ['Refresh tokens', 'public clients: single use, 30 days. Confidential clients: valid until revoked.'],
  [
    '`/oauth2/revoke`',
    'revokes refresh tokens too. An unknown token is 200 and an unknown client 400, except in strict mode.',
  ],
  ['`/oauth2/token`', 'ignores the `Authorization` header. `scope` is an array.'],
  ['Rate limits', '`/oauth2` has separate limits: 429 with `Retry-After`.'],
]

export const OPENID_DIFFERENCES: readonly Difference[] = [
  ['Issuer', '`<public URL>/oauth2`, with discovery, keys and user info below it.'],
  [
    '`token_endpoint`',
    'discovery names `/oauth2/openid/token`, where `scope` is a string and errors have `error`, so that standard libraries work unmodified. `/oauth2/token` returns the same `id_token`.',
  ],
  [
    'Response types',
    '`code` returns an ID token. `id_token` and combinations are `unsupported_response_type`.',
  ],
  [
    'Claims',
    '`preferred_username` is always present; there is no `email`, `email_verified`, `picture` or `updated_at`, and the `claims` parameter is ignored.',
  ],
  ['User info', 'GET only.'],
]
