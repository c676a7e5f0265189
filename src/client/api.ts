/** Generated from the contract by `npm run docs`. Do not edit. */

import type { ListMethod, Method, RowsMethod, UpdateMethod } from './signatures.ts'

/** The name of an operation. */
export type OperationName =
  | 'GetDropsEntitlements'
  | 'UpdateDropsEntitlements'
  | 'GetStreams'
  | 'GetFollowedStreams'
  | 'GetStreamKey'
  | 'CreateStreamMarker'
  | 'GetStreamMarkers'
  | 'GetUsers'
  | 'UpdateUser'
  | 'GetGames'
  | 'SearchCategories'
  | 'GetVideos'
  | 'DeleteVideos'
  | 'GetChannelInformation'
  | 'ModifyChannelInformation'
  | 'GetFollowedChannels'
  | 'GetChannelFollowers'
  | 'GetChannelEditors'
  | 'GetTopGames'
  | 'SearchChannels'
  | 'ExportStreamMarkers'
  | 'CreateEventSubSubscription'
  | 'GetEventSubSubscriptions'
  | 'DeleteEventSubSubscription'
  | 'CreateToken'
  | 'CreateDeviceCode'
  | 'ValidateToken'
  | 'RevokeToken'
  | 'MintUserToken'
  | 'GetOpenidConfiguration'
  | 'GetSigningKeys'
  | 'CreateOpenidToken'
  | 'GetUserInfo'
  | 'CreatePlaybackSession'
  | 'SendHeartbeat'
  | 'GetLatestStreams'
  | 'CreateUser'
  | 'DeleteUser'
  | 'GetUser'
  | 'ListUsers'
  | 'PutUser'
  | 'CreateOrganization'
  | 'DeleteMember'
  | 'DeleteOrganization'
  | 'GetOrganization'
  | 'ListMembers'
  | 'ListOrganizations'
  | 'PutMember'
  | 'PutOrganization'
  | 'CreateGame'
  | 'DeleteGame'
  | 'GetGame'
  | 'ListGames'
  | 'PutGame'
  | 'CreateBenefit'
  | 'DeleteBenefit'
  | 'GetBenefit'
  | 'ListBenefits'
  | 'PutBenefit'
  | 'CreateClient'
  | 'DeleteClient'
  | 'GetClient'
  | 'ListClients'
  | 'PatchClient'
  | 'RotateClientSecret'
  | 'EndToken'
  | 'IssueToken'
  | 'DeleteEditor'
  | 'EndStream'
  | 'GetChannel'
  | 'GetStream'
  | 'KickPublisher'
  | 'ListEditors'
  | 'ListStreams'
  | 'PatchChannel'
  | 'PutEditor'
  | 'RotateStreamKey'
  | 'StartStream'
  | 'CreateStreamKey'
  | 'DeleteStreamKey'
  | 'ListStreamKeys'
  | 'ReadStreamKey'
  | 'DeleteFollow'
  | 'ListFollows'
  | 'PutFollow'
  | 'PutFollows'
  | 'ReportViewers'
  | 'GetEntitlement'
  | 'GetEntitlementHistory'
  | 'GrantEntitlements'
  | 'ListEntitlements'
  | 'DeleteVideo'
  | 'GetVideo'
  | 'ListVideos'
  | 'PatchVideo'
  | 'ExportVideoMarkers'
  | 'DeleteMediaServer'
  | 'GetMediaServer'
  | 'ListMediaServers'
  | 'PutMediaServer'
  | 'RotateMediaServerSecret'
  | 'DeleteEventSubscription'
  | 'ListDeliveries'
  | 'ListEventSubscriptions'
  | 'ListEvents'
  | 'ReplayEvents'
  | 'ResendDelivery'
  | 'CreateOperator'
  | 'DeleteOperator'
  | 'ListOperators'
  | 'ListAudit'
  | 'ExportLines'
  | 'ImportLines'
  | 'AdvanceClock'
  | 'ClearFaults'
  | 'ClearRequests'
  | 'ListFaults'
  | 'ListRequests'
  | 'PlanFault'
  | 'ReadClock'
  | 'ReadWorld'
  | 'ResetWorld'
  | 'SaveSnapshot'

/** The name of an error, as the header `Strand-Error` has it. */
export type ErrorCode =
  | 'missing_parameter'
  | 'malformed_parameter'
  | 'repeated_parameter'
  | 'malformed_query'
  | 'malformed_form'
  | 'malformed_host'
  | 'malformed_image_size'
  | 'malformed_json'
  | 'not_exactly_one'
  | 'none_given'
  | 'no_identifier'
  | 'bad_identifiers'
  | 'not_one_video_filter'
  | 'invalid_cursor'
  | 'both_cursors'
  | 'bad_idempotency_key'
  | 'idempotency_key_reused'
  | 'no_organization'
  | 'other_user_filter'
  | 'malformed_logins'
  | 'id_not_numeric'
  | 'unknown_reference'
  | 'nothing_to_update'
  | 'invalid_game_id'
  | 'not_partnered'
  | 'refused_reference'
  | 'several_filters'
  | 'wrong_token_kind'
  | 'wrong_line'
  | 'token_missing'
  | 'token_invalid'
  | 'client_mismatch'
  | 'client_id_missing'
  | 'user_token_required'
  | 'scope_missing'
  | 'identity_mismatch'
  | 'not_video_owner'
  | 'operator_required'
  | 'operator_invalid'
  | 'invalid_session'
  | 'game_forbidden'
  | 'entitlement_forbidden'
  | 'marker_forbidden'
  | 'channel_forbidden'
  | 'subscription_forbidden'
  | 'mature_label_fixed'
  | 'route_unknown'
  | 'operation_not_offered'
  | 'method_unknown'
  | 'path_misspelled'
  | 'operation_removed'
  | 'user_not_found'
  | 'channel_busy'
  | 'session_ended'
  | 'not_live'
  | 'broadcast_elsewhere'
  | 'no_publisher'
  | 'vods_off'
  | 'no_videos'
  | 'video_not_found'
  | 'not_found'
  | 'name_not_found'
  | 'token_not_found'
  | 'taken'
  | 'reserved_login'
  | 'too_many_markers'
  | 'too_many_stream_keys'
  | 'subscription_exists'
  | 'subscription_ended'
  | 'in_use'
  | 'entitlement_conflict'
  | 'body_too_large'
  | 'upgrade_required'
  | 'rate_limited'
  | 'subscription_cost_exceeded'
  | 'too_many_subscriptions'
  | 'internal'
  | 'unavailable'
  | 'sockets_full'
  | 'viewers_full'
  | 'passwords_busy'
  | 'images_busy'
  | 'no_room'
  | 'missing_client_id'
  | 'invalid_client'
  | 'missing_client_secret'
  | 'invalid_client_secret'
  | 'too_many_attempts'
  | 'too_many_requests'
  | 'malformed_basic'
  | 'two_credentials'
  | 'missing_grant_type'
  | 'unsupported_grant_type'
  | 'public_client'
  | 'missing_code'
  | 'invalid_code'
  | 'other_redirect'
  | 'wrong_verifier'
  | 'missing_device_code'
  | 'invalid_device_code'
  | 'authorization_pending'
  | 'access_denied'
  | 'slow_down'
  | 'device_flow_off'
  | 'missing_refresh_token'
  | 'invalid_refresh_token'
  | 'invalid_scope'
  | 'too_many_scopes'
  | 'missing_user_id'
  | 'unknown_user'
  | 'missing_authorization'
  | 'invalid_access_token'
  | 'invalid_revoking_client'
  | 'missing_oauth_token'

/** One change in the audit log. */
export interface AuditEntry {
  /** `operator`, `user` for changes by users to what belongs to them, or the id of the organization whose entitlements changed, with a suffix such as `/1` if several writers were concurrent. */
  chain: string
  /** Without gaps within a chain. */
  seq: number
  /** RFC 3339 UTC with milliseconds. */
  at: string
  /** `operator`, `operator/<name>`, `user/<user_id>`, `client/<client_id>`, `client/<client_id>/user/<user_id>`, or `strand` for the command line. */
  actor: string
  operation: string
  /** The changed resource, such as `game/33214`. */
  subject: string
  /** The previous state; null if it did not exist. */
  before: unknown
  /** The new state; null if it was deleted. Secrets are shown as `"changed"`. */
  after: unknown
  /** SHA-256 of the row and the previous hash, in hex. */
  hash: string
}

/** What an entitlement entitles to. */
export interface Benefit {
  id: string
  /** At most 100 characters. */
  name: string
  organization_id: string
  game_id: string | null
}

/** A game, as clients see it. */
export interface Category {
  id: string
  name: string
  /** Contains the literal text `{width}x{height}`. */
  box_art_url: string
  /** Empty if unknown. */
  igdb_id: string
}

/** A channel, as the control API shows it. */
export interface Channel {
  user_id: string
  title: string
  game_id: string
  language: string
  tags: string[]
  is_mature: boolean
  vod_enabled: boolean
  /** Seconds. */
  delay: number
  content_classification_labels: string[]
  is_branded_content: boolean
  second_publisher: 'refuse' | 'take_over'
}

/** A user who may edit a channel. */
export interface ChannelEditor {
  user_id: string
  user_name: string
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
}

/** A user who follows a channel. */
export interface ChannelFollower {
  user_id: string
  user_login: string
  user_name: string
  /** RFC 3339 UTC, whole seconds. */
  followed_at: string
}

/** A channel, as clients see it. */
export interface ChannelInformation {
  broadcaster_id: string
  broadcaster_login: string
  broadcaster_name: string
  /** ISO 639-1 code, or `other`. */
  broadcaster_language: string
  /** Empty if no game is set. */
  game_id: string
  game_name: string
  title: string
  /** Seconds; 0 unless the user of the token is the broadcaster. */
  delay: number
  tags: string[]
  /** Contains `MatureGame` if the channel is set to mature. */
  content_classification_labels: string[]
  is_branded_content: boolean
}

/** A benefit that a user has earned in a game. */
export interface Entitlement {
  id: string
  benefit_id: string
  /** RFC 3339 UTC with milliseconds. */
  timestamp: string
  user_id: string
  game_id: string
  /** Whether the benefit has been given to the user. */
  fulfillment_status: FulfillmentStatus
  /** RFC 3339 UTC with milliseconds. */
  last_updated: string
  /** RFC 3339 UTC with milliseconds. */
  updated_at: string
}

/** One step in the history of an entitlement. */
export interface EntitlementTransition {
  /** RFC 3339 UTC with milliseconds. */
  at: string
  /** Null for the grant. */
  from: FulfillmentStatus | null
  /** Whether the benefit has been given to the user. */
  to: FulfillmentStatus
  /** As in the audit log; null for a grant that was part of a batch. */
  actor: string | null
}

/** The ids that an update had the same outcome for. */
export interface EntitlementUpdate {
  status: 'SUCCESS' | 'INVALID_ID' | 'NOT_FOUND' | 'UNAUTHORIZED' | 'UPDATE_FAILED'
  ids: string[]
}

/** A message to a subscriber and what became of it. */
export interface EventDelivery {
  id: string
  /** As the receiver sees it. Events that were sent in one request share it. */
  message_id: string
  kind: 'notification' | 'webhook_callback_verification' | 'revocation'
  subscription_id: string
  type: string
  /** Null for a message that is not a notification. */
  event_id: string | null
  status: 'pending' | 'delivered' | 'failed' | 'canceled'
  attempts: number
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
  /** When the next attempt is due, or the current one counts as lost. */
  due_at: string | null
  /** Null while it is pending. */
  finished_at: string | null
  /** The HTTP status of the last attempt. */
  answer_status: number | null
  /** Why the last attempt failed. */
  answer: string | null
  /** The duration of the last attempt. */
  milliseconds: number | null
}

/** A subscription to a type of event. */
export interface EventSubscription {
  id: string
  /** Whether messages are sent, and if not, why. */
  status: SubscriptionStatus
  type: string
  version: string
  condition: { [name: string]: string }
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
  /** How the messages of a subscription are sent. */
  transport: EventTransport
  cost: number
}

/** How the messages of a subscription are sent. */
export interface EventTransport {
  method: 'webhook' | 'websocket'
  /** Of a webhook. */
  callback?: string
  /** Of a WebSocket. */
  session_id?: string
  /** When the WebSocket was opened. */
  connected_at?: string
}

/** An extra stream key of a channel, without the key. */
export interface ExtraStreamKey {
  name: string
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
  valid_until: string | null
}

export interface Fault {
  /** The name of an operation, such as UpdateDropsEntitlements. At most 100 characters. */
  operation: string
  /** What happens: `unavailable` is 503, `rate_limited` 429, `internal_error` 500, `bad_gateway` 502 with a page of HTML, `token_invalid` 401. `slow` delays the call. `connection_reset` ends the connection before anything happens; `answer_lost` does so when the call has taken effect; `broken_json` cuts the answer short. `update_failed` is the status of an entitlement. */
  outcome: 'update_failed' | 'unavailable' | 'rate_limited' | 'slow' | 'internal_error' | 'bad_gateway' | 'token_invalid' | 'broken_json' | 'connection_reset' | 'answer_lost'
  /** With `update_failed`: the entitlement whose update fails (default: any); in a scenario its id or its name. At most 100 characters. */
  entitlement_id?: string
  /** Only calls with these parameters or fields of the body; of a list, one entry has to match. In a scenario a value may be the name of an entry, for its id. */
  where?: { [name: string]: string | number | boolean }
  /** With `slow`: the delay (default: 5000). 1 to 60000. */
  milliseconds?: number
  /** With `unavailable` and `rate_limited`: the seconds of Retry-After (default: 1). 0 to 3600. */
  retry_after?: number
  /** Number of calls that succeed before: 2 makes the third fail (default: 0). 0 to 1000000. */
  skip?: number
  /** Number of calls that fail (default: 1). 1 to 1000000. */
  times?: number
  /** The share of calls that fail, until `times` have (default: 1). 0 to 1. */
  probability?: number
  /** With `probability`: the same seed chooses the same calls (default: 0). 0 to 4294967295. */
  seed?: number
}

/** A channel that a user follows. */
export interface FollowedChannel {
  broadcaster_id: string
  broadcaster_login: string
  broadcaster_name: string
  /** RFC 3339 UTC, whole seconds. */
  followed_at: string
}

/** A channel, as searches return it. */
export interface FoundChannel {
  /** ISO 639-1 code. */
  broadcaster_language: string
  broadcaster_login: string
  display_name: string
  /** Empty if no game is set. */
  game_id: string
  game_name: string
  /** The user id of the broadcaster. */
  id: string
  is_live: boolean
  /** Always empty: replaced by `tags`. */
  tag_ids: string[]
  tags: string[]
  /** The profile image of the broadcaster. */
  thumbnail_url: string
  title: string
  /** RFC 3339 UTC, whole seconds; empty if the channel is not live. */
  started_at: string
}

/** Whether the benefit has been given to the user. */
export type FulfillmentStatus = 'CLAIMED' | 'FULFILLED'

/** A game, as the control API shows it. */
export interface Game {
  id: string
  /** At most 100 characters. */
  name: string
  organization_id: string | null
  /** Empty if unknown. */
  igdb_id: string
}

/** A marker with the URL of its position. `url` and `URL` are the same. */
export interface ListedMarker {
  /** 32 lower-case hex digits. */
  id: string
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
  description: string
  position_seconds: number
  url: string
  URL: string
}

/** Markers of a user by video. */
export interface MarkerListing {
  user_id: string
  user_login: string
  user_name: string
  videos: VideoMarkers[]
}

/** A media server that reports its publishers. */
export interface MediaServer {
  name: string
  adapter: 'nginx-rtmp' | 'mediamtx' | 'srs' | 'ovenmediaengine' | 'node-media-server' | 'owncast' | 'generic'
  /** Where the API of the media server is; null: it has none that Strand may use. */
  api_url: string | null
  /** Where viewers find the HLS playlist of a channel, with `{login}` in place of its login; null: its broadcasts do not play on the pages of channels. */
  playback_url: string | null
  /** The channel of a media server that has only one, such as Owncast. */
  user_id: string | null
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
}

/** A media server, with its secret when that is created or replaced. */
export interface MediaServerWithSecret {
  name: string
  adapter: 'nginx-rtmp' | 'mediamtx' | 'srs' | 'ovenmediaengine' | 'node-media-server' | 'owncast' | 'generic'
  /** Where the API of the media server is; null: it has none that Strand may use. */
  api_url: string | null
  /** Where viewers find the HLS playlist of a channel, with `{login}` in place of its login; null: its broadcasts do not play on the pages of channels. */
  playback_url: string | null
  /** The channel of a media server that has only one, such as Owncast. */
  user_id: string | null
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
  secret?: string
}

/** The discovery document (OpenID Connect Discovery 1.0, RFC 8414). */
export interface OpenidConfiguration {
  issuer: string
  authorization_endpoint: string
  token_endpoint: string
  userinfo_endpoint: string
  jwks_uri: string
  revocation_endpoint: string
  device_authorization_endpoint: string
  scopes_supported: string[]
  response_types_supported: string[]
  response_modes_supported: string[]
  grant_types_supported: string[]
  subject_types_supported: string[]
  id_token_signing_alg_values_supported: string[]
  token_endpoint_auth_methods_supported: string[]
  revocation_endpoint_auth_methods_supported: string[]
  code_challenge_methods_supported: string[]
  prompt_values_supported: string[]
  claims_supported: string[]
  claims_parameter_supported: boolean
  request_parameter_supported: boolean
  request_uri_parameter_supported: boolean
}

/** A subscription to a type of event, with the application that made it. */
export interface OperatorSubscription {
  id: string
  /** Whether messages are sent, and if not, why. */
  status: SubscriptionStatus
  type: string
  version: string
  condition: { [name: string]: string }
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
  /** How the messages of a subscription are sent. */
  transport: EventTransport
  cost: number
  client_id: string
}

/** A named token of the control API, without the token. */
export interface OperatorToken {
  name: string
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
}

/** A named token of the control API. Returned once, when it is created. */
export interface OperatorTokenWithSecret {
  name: string
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
  token: string
}

/** The owner of games, benefits and entitlements. */
export interface Organization {
  id: string
  /** At most 100 characters. */
  name: string
}

/** Empty on the last page in the requested direction. */
export interface Pagination {
  /** Pass it as `after` to get the next page; absent on the last page. */
  cursor?: string
}

/** A user, as clients see it. */
export interface Profile {
  id: string
  /** Lower case. */
  login: string
  display_name: string
  /** Always empty. */
  type: string
  broadcaster_type: '' | 'affiliate' | 'partner'
  description: string
  profile_image_url: string
  /** Always empty. */
  offline_image_url: string
  /** Always 0. */
  view_count: number
  /** Only in the row of the token's user, and only with the scope `user:read:email`. Empty if the user has no address. */
  email?: string
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
}

/** The recording of a stream, as clients see it. */
export interface PublicVideo {
  id: string
  /** Null for videos that are older than this field, and for imported ones without a stream. */
  stream_id: string | null
  user_id: string
  user_login: string
  user_name: string
  title: string
  description: string
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
  /** RFC 3339 UTC, whole seconds. */
  published_at: string
  url: string
  /** A PNG, or a JPEG of the broadcast; contains the literal text `%{width}x%{height}`, to be replaced by a size of at most 2048x2048. */
  thumbnail_url: string
  viewable: 'public'
  view_count: number
  /** ISO 639-1 code, or `other`. */
  language: string
  type: 'archive'
  /** Such as `3h8m33s`; duration so far while the stream is live. */
  duration: string
  /** No part of a video is ever muted. */
  muted_segments: null
}

export interface RecordedRequest {
  /** Counts up from 1. */
  number: number
  /** RFC 3339 UTC with milliseconds. */
  at: string
  /** The operation; null for a path that has none. */
  operation: string | null
  method: string
  path: string
  /** The values of each parameter, in the order in which they were sent. */
  query: { [name: string]: string[] }
  /** By name in lower case. */
  headers: { [name: string]: string }
  /** The body as JSON; a string if it is something else or was cut; null without a body. */
  body: unknown
  /** The client of the token. */
  client_id: string | null
  /** The user of the token. */
  user_id: string | null
  /** The status of the answer; null if the connection was reset instead. */
  status: number | null
  /** Like `body`. With the fault `answer_lost`, what was not sent. */
  answer: unknown
  /** The injected fault. */
  fault: 'update_failed' | 'unavailable' | 'rate_limited' | 'slow' | 'internal_error' | 'bad_gateway' | 'token_invalid' | 'broken_json' | 'connection_reset' | 'answer_lost' | null
}

/** An application that requests tokens. */
export interface RegisteredClient {
  id: string
  /** At most 100 characters. */
  name: string
  organization_id: string | null
  owner_user_id: string | null
  kind: 'confidential' | 'public'
  redirect_uris: string[]
  /** Whether the client may use `response_type=token`. */
  implicit_grant: boolean
  /** Whether the client may use the device flow. A confidential client has to send its secret to get the token. */
  device_flow: boolean
}

/** An application that requests tokens, with its secret. A public client has none. */
export interface RegisteredClientWithSecret {
  id: string
  /** At most 100 characters. */
  name: string
  organization_id: string | null
  owner_user_id: string | null
  kind: 'confidential' | 'public'
  redirect_uris: string[]
  /** Whether the client may use `response_type=token`. */
  implicit_grant: boolean
  /** Whether the client may use the device flow. A confidential client has to send its secret to get the token. */
  device_flow: boolean
  secret?: string
}

/** A public key that verifies ID tokens (RFC 7517). */
export interface SigningKey {
  kty: 'RSA'
  kid: string
  use: 'sig'
  alg: 'RS256'
  n: string
  e: string
}

/** An access token as in RFC 6749: scopes are one string. */
export interface StandardTokenAnswer {
  access_token: string
  expires_in: number
  refresh_token?: string
  /** Space-separated. */
  scope?: string
  token_type: 'bearer'
  /** Identifies the user who logged in; only with the scope `openid` and a code or device code. */
  id_token?: string
}

/** An event that a subscription matched. */
export interface StoredEvent {
  id: string
  type: string
  version: string
  /** The id of the broadcaster, user or organization. */
  subject: string
  /** RFC 3339 UTC with milliseconds. */
  occurred_at: string
  /** As subscribers get it. */
  event: { [name: string]: unknown }
}

/** A live stream. */
export interface Stream {
  id: string
  user_id: string
  user_login: string
  user_name: string
  /** Empty if no game is set. */
  game_id: string
  game_name: string
  type: 'live'
  title: string
  viewer_count: number
  /** RFC 3339 UTC, whole seconds. */
  started_at: string
  /** ISO 639-1 code. */
  language: string
  /** A PNG, or a JPEG of the broadcast; contains the literal text `{width}x{height}`, to be replaced by a size of at most 2048x2048. */
  thumbnail_url: string
  /** Always empty: replaced by `tags`, but one client library still reads it. */
  tag_ids: string[]
  tags: string[]
  is_mature: boolean
}

/** The key with which an encoder publishes to a channel. */
export interface StreamKey {
  stream_key: string
}

/** A marked position in the video of a stream. */
export interface StreamMarker {
  /** 32 lower-case hex digits. */
  id: string
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
  description: string
  position_seconds: number
}

/** Whether messages are sent, and if not, why. */
export type SubscriptionStatus = 'enabled' | 'webhook_callback_verification_pending' | 'webhook_callback_verification_failed' | 'notification_failures_exceeded' | 'authorization_revoked' | 'user_removed' | 'version_removed' | 'websocket_disconnected' | 'websocket_failed_ping_pong' | 'websocket_received_inbound_traffic' | 'websocket_connection_unused' | 'websocket_internal_error' | 'websocket_network_timeout' | 'websocket_network_error'

/** An access token. An app token has neither refresh token nor scope. */
export interface TokenAnswer {
  access_token: string
  expires_in: number
  refresh_token?: string
  scope?: string[]
  token_type: 'bearer'
  /** Identifies the user who logged in; only with the scope `openid` and a code or device code. */
  id_token?: string
}

/** A user, as the control API shows it. */
export interface User {
  id: string
  /** Lower case. */
  login: string
  display_name: string
  description: string
  broadcaster_type: '' | 'affiliate' | 'partner'
  email: string | null
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
}

/** Claims about the user of a token. */
export interface UserInfo {
  /** The user id. */
  sub: string
  iss: string
  /** The client of the token. */
  aud: string
  azp: string
  /** Expiry of the token, in Unix seconds. */
  exp: number
  /** Current time, in Unix seconds. */
  iat: number
  /** The display name. */
  preferred_username: string
}

/** What a token is for. */
export interface Validation {
  client_id: string
  /** User tokens only. */
  login?: string
  scopes: string[]
  /** User tokens only. */
  user_id?: string
  expires_in: number
}

/** The recording of a stream, as the control API shows it. */
export interface Video {
  id: string
  user_id: string
  user_login: string
  user_name: string
  /** Null for videos that are older than this field, and for imported ones without a stream. */
  stream_id: string | null
  /** That of the channel while the stream is live. */
  title: string
  description: string
  language: string
  /** Empty if no game is set. */
  game_id: string
  view_count: number
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
  /** Null while the stream is live. */
  ended_at: string | null
  /** Duration so far while the stream is live. */
  duration_seconds: number
  is_live: boolean
  marker_count: number
}

/** The markers of a video. */
export interface VideoMarkers {
  video_id: string
  markers: ListedMarker[]
}

/** A channel went live. */
export interface StreamOnlineEvent {
  /** The id of the stream. */
  id: string
  broadcaster_user_id: string
  broadcaster_user_login: string
  broadcaster_user_name: string
  type: 'live'
  /** RFC 3339 UTC, whole seconds. */
  started_at: string
}

/** A stream ended. */
export interface StreamOfflineEvent {
  broadcaster_user_id: string
  broadcaster_user_login: string
  broadcaster_user_name: string
}

/** The title, language, category or content labels of a channel changed. */
export interface ChannelUpdateEvent {
  broadcaster_user_id: string
  broadcaster_user_login: string
  broadcaster_user_name: string
  title: string
  language: string
  /** Empty if no game is set. */
  category_id: string
  category_name: string
  content_classification_labels: string[]
}

/** A user followed a channel. */
export interface ChannelFollowEvent {
  user_id: string
  user_login: string
  user_name: string
  broadcaster_user_id: string
  broadcaster_user_login: string
  broadcaster_user_name: string
  /** RFC 3339 UTC, whole seconds. */
  followed_at: string
}

/** The name, description or email address of a user changed. */
export interface UserUpdateEvent {
  user_id: string
  user_login: string
  user_name: string
  /** Empty unless the user has granted the application `user:read:email`. */
  email: string
  email_verified: boolean
  description: string
}

/** Entitlements were granted. Several are sent in one request. */
export interface DropEntitlementGrantEvent {
  organization_id: string
  category_id: string
  category_name: string
  /** Empty. */
  campaign_id: string
  user_id: string
  user_name: string
  user_login: string
  entitlement_id: string
  benefit_id: string
  /** RFC 3339 UTC with milliseconds. */
  created_at: string
}

/** The fulfilment status of an entitlement was set. */
export interface StrandEntitlementUpdateEvent {
  entitlement_id: string
  user_id: string
  game_id: string
  /** Whether the benefit has been given to the user. */
  fulfillment_status: FulfillmentStatus
  /** Whether the benefit has been given to the user. */
  previous_status: FulfillmentStatus
  /** RFC 3339 UTC with milliseconds. */
  updated_at: string
}

/** A marker was created. */
export interface StrandMarkerCreateEvent {
  /** 32 lower-case hex digits. */
  id: string
  /** RFC 3339 UTC, whole seconds. */
  created_at: string
  description: string
  position_seconds: number
  video_id: string
  broadcaster_user_id: string
  broadcaster_user_login: string
  broadcaster_user_name: string
  creator_user_id: string
  creator_user_login: string
  creator_user_name: string
}

/** The events by the names of their types. */
export interface Events {
  /** A channel went live. */
  'stream.online': StreamOnlineEvent
  /** A stream ended. */
  'stream.offline': StreamOfflineEvent
  /** The title, language, category or content labels of a channel changed. */
  'channel.update': ChannelUpdateEvent
  /** A user followed a channel. */
  'channel.follow': ChannelFollowEvent
  /** The name, description or email address of a user changed. */
  'user.update': UserUpdateEvent
  /** Entitlements were granted. Several are sent in one request. */
  'drop.entitlement.grant': DropEntitlementGrantEvent
  /** The fulfilment status of an entitlement was set. */
  'strand.entitlement.update': StrandEntitlementUpdateEvent
  /** A marker was created. */
  'strand.marker.create': StrandMarkerCreateEvent
}

/** What a test needs in the demo world. Each named entry appears under its name in `world.scenario`. */
export interface Scenario {
  $schema?: string | undefined
  description?: string | undefined
  /** Organizations, which own games, benefits and clients. */
  organizations?: { readonly [name: string]: {
    id?: string | undefined
    /** At most 100 characters. */
    name?: string | undefined
  } } | undefined
  /** Games. */
  games?: { readonly [name: string]: {
    id?: string | undefined
    /** Default: the name of the entry. At most 100 characters. */
    name?: string | undefined
    /** `organization` or `other_organization` of the demo, or the name of one of this scenario (default: none). */
    organization?: string | undefined
  } } | undefined
  /** Benefits that entitlements grant. */
  benefits?: { readonly [name: string]: {
    id?: string | undefined
    /** Default: the name of the entry. At most 100 characters. */
    name?: string | undefined
    /** `organization` or `other_organization` of the demo, or the name of one of this scenario (default: `organization`). */
    organization?: string | undefined
    /** The name of a game of this scenario or of the demo. */
    game?: string | undefined
  } } | undefined
  /** Clients, each with an app token. */
  clients?: { readonly [name: string]: {
    id?: string | undefined
    /** Default: the name of the entry. At most 100 characters. */
    name?: string | undefined
    /** `organization` or `other_organization` of the demo, or the name of one of this scenario (default: none). */
    organization?: string | undefined
    kind?: 'confidential' | 'public' | undefined
    /** Default: `http://localhost:3000/callback`. At most 20 entries. */
    redirect_uris?: readonly string[] | undefined
    implicit_grant?: boolean | undefined
    /** Default: true. */
    device_flow?: boolean | undefined
  } } | undefined
  /** Users with channels. */
  users?: { readonly [name: string]: {
    id?: string | undefined
    /** Default: the name in lower case. */
    login?: string | undefined
    /** At most 100 characters. */
    display_name?: string | undefined
    /** At most 300 characters. */
    description?: string | undefined
    broadcaster_type?: '' | 'affiliate' | 'partner' | undefined
    /** At most 254 characters. */
    email?: string | undefined
    /** The live stream; without it the user is offline. */
    stream?: {
      id?: string | undefined
      /** 0 to 1000000000. */
      viewer_count?: number | undefined
      /** At most 140 characters. */
      title?: string | undefined
      language?: string | undefined
      /** At most 10 entries. */
      tags?: readonly string[] | undefined
      /** The name of a game of this scenario or of the demo (default: that of `world.game`); empty: no game. */
      game?: string | undefined
      /** 0 to 31536000. */
      started_seconds_ago?: number | undefined
    } | undefined
    /** Number of videos of earlier streams (default: 0). 0 to 20. */
    past_videos?: number | undefined
    /** Whether streams are recorded as videos (default: true); false gives a live channel without videos. */
    vod_enabled?: boolean | undefined
    /** At most 100 entries. */
    follows?: readonly (string | {
      /** `broadcaster`, `editor`, `offline` or `viewer` of the demo, or the name of a user of this scenario. */
      user: string
      /** 0 to 31536000. */
      followed_seconds_ago: number
    })[] | undefined
    /** Users that may edit the channel. At most 100 entries. */
    editors?: readonly string[] | undefined
  } } | undefined
  /** Entitlements, and ids without an entitlement. */
  entitlements?: { readonly [name: string]: {
    /** At most 100 characters. */
    id?: string | undefined
    /** Status that UpdateDropsEntitlements returns to the clients of the benefit's organization, and UNAUTHORIZED to `client` of the demo (default: SUCCESS). NOT_FOUND and INVALID_ID create an id without an entitlement. */
    update_status?: 'SUCCESS' | 'INVALID_ID' | 'NOT_FOUND' | 'UNAUTHORIZED' | 'UPDATE_FAILED' | undefined
    /** With UPDATE_FAILED: number of failures (default: always). 1 to 1000000. */
    times?: number | undefined
    /** `broadcaster`, `editor`, `offline` or `viewer` of the demo, or the name of a user of this scenario. */
    user?: string | undefined
    /** `benefit` of the demo (default), or the name of a benefit of this scenario. */
    benefit?: string | undefined
    /** The name of a game of this scenario or of the demo (default: that of the benefit). */
    game?: string | undefined
    /** Whether the benefit has been given to the user. */
    fulfillment_status?: FulfillmentStatus | undefined
    /** 0 to 31536000. */
    granted_seconds_ago?: number | undefined
  } } | undefined
  /** Entitlements in large numbers; 200,000 in all. */
  campaigns?: { readonly [name: string]: {
    /** Number of entitlements. 1 to 100000. */
    count: number
    /** How many are FULFILLED (default: 0). 0 to 100000. */
    fulfilled?: number | undefined
    /** `benefit` of the demo (default), or the name of a benefit of this scenario. */
    benefit?: string | undefined
    /** The name of a game of this scenario or of the demo (default: that of the benefit). */
    game?: string | undefined
    /** Who gets them, in turn (default: `viewer`). 1 to 1000 entries. */
    users?: readonly string[] | undefined
    /** Age of the oldest; each later one is granted a millisecond after (default: 3600). 0 to 31536000. */
    granted_seconds_ago?: number | undefined
  } } | undefined
  /** Tokens: valid, expired or revoked. */
  tokens?: { readonly [name: string]: {
    kind?: 'user' | 'app' | undefined
    state?: 'good' | 'expired' | 'revoked' | undefined
    /** `broadcaster`, `editor`, `offline` or `viewer` of the demo, or the name of a user of this scenario. */
    user?: string | undefined
    /** Default: all scopes that have an effect. At most 50 entries. */
    scopes?: readonly string[] | undefined
    /** `client` (default) or `other_client` of the demo, or the name of a client of this scenario. */
    client?: string | undefined
    /** 1 to 315360000. */
    expires_in?: number | undefined
  } } | undefined
  /** Faults planned at the start. At most 1000 entries. */
  faults?: readonly {
    /** The name of an operation, such as UpdateDropsEntitlements. At most 100 characters. */
    operation: OperationName
    /** What happens: `unavailable` is 503, `rate_limited` 429, `internal_error` 500, `bad_gateway` 502 with a page of HTML, `token_invalid` 401. `slow` delays the call. `connection_reset` ends the connection before anything happens; `answer_lost` does so when the call has taken effect; `broken_json` cuts the answer short. `update_failed` is the status of an entitlement. */
    outcome: 'update_failed' | 'unavailable' | 'rate_limited' | 'slow' | 'internal_error' | 'bad_gateway' | 'token_invalid' | 'broken_json' | 'connection_reset' | 'answer_lost'
    /** With `update_failed`: the entitlement whose update fails (default: any); in a scenario its id or its name. At most 100 characters. */
    entitlement_id?: string | undefined
    /** Only calls with these parameters or fields of the body; of a list, one entry has to match. In a scenario a value may be the name of an entry, for its id. */
    where?: { readonly [name: string]: string | number | boolean } | undefined
    /** With `slow`: the delay (default: 5000). 1 to 60000. */
    milliseconds?: number | undefined
    /** With `unavailable` and `rate_limited`: the seconds of Retry-After (default: 1). 0 to 3600. */
    retry_after?: number | undefined
    /** Number of calls that succeed before: 2 makes the third fail (default: 0). 0 to 1000000. */
    skip?: number | undefined
    /** Number of calls that fail (default: 1). 1 to 1000000. */
    times?: number | undefined
    /** The share of calls that fail, until `times` have (default: 1). 0 to 1. */
    probability?: number | undefined
    /** With `probability`: the same seed chooses the same calls (default: 0). 0 to 4294967295. */
    seed?: number | undefined
  }[] | undefined
  /** Changes that happen later. Subscribers get the event of each. At most 1000 entries. */
  events?: readonly {
    type: 'stream.online' | 'stream.offline' | 'channel.update' | 'channel.follow' | 'drop.entitlement.grant'
    /** The broadcaster, or who gets the entitlement: `broadcaster`, `editor`, `offline` or `viewer` of the demo, or the name of a user of this scenario. */
    user: string
    /** Time since the start or the last reset, by the clock of the demo. 0 to 31536000. */
    after_seconds: number
    /** With `channel.follow`: the user who follows (default: `viewer`). */
    by?: string | undefined
    /** With `channel.update`: the new title. At most 140 characters. */
    title?: string | undefined
  }[] | undefined
}

/** The input of GetDropsEntitlements. */
export interface GetDropsEntitlementsInput {
  /** At most 100 entries. */
  id?: readonly string[] | undefined
  /** Decimal digits; any other form matches nothing. */
  user_id?: string | undefined
  /** Decimal digits; any other form matches nothing. */
  game_id?: string | undefined
  /** Whether the benefit has been given to the user. */
  fulfillment_status?: FulfillmentStatus | undefined
  /** Page size (default: 20, or 100 with `id`). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of GetDropsEntitlements. */
export interface GetDropsEntitlementsAnswer {
  data: Entitlement[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of UpdateDropsEntitlements. */
export interface UpdateDropsEntitlementsInput {
  /** 1 to 100 entries. */
  entitlement_ids: readonly string[]
  /** Whether the benefit has been given to the user. */
  fulfillment_status: FulfillmentStatus
}

/** The answer of UpdateDropsEntitlements. */
export interface UpdateDropsEntitlementsAnswer {
  data: EntitlementUpdate[]
}

/** The input of GetStreams. */
export interface GetStreamsInput {
  /** At most 100 entries. */
  user_id?: readonly string[] | undefined
  /** At most 100 entries. */
  user_login?: readonly string[] | undefined
  /** At most 100 entries. */
  game_id?: readonly string[] | undefined
  type?: 'all' | 'live' | undefined
  /** At most 100 entries. */
  language?: readonly string[] | undefined
  /** Page size (default: 20, or 100 with `user_id` or `user_login`). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
}

/** The answer of GetStreams. */
export interface GetStreamsAnswer {
  data: Stream[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GetFollowedStreams. */
export interface GetFollowedStreamsInput {
  /** Decimal digits; any other form matches nothing. */
  user_id: string
  /** Page size (default: 100). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of GetFollowedStreams. */
export interface GetFollowedStreamsAnswer {
  data: Stream[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GetStreamKey. */
export interface GetStreamKeyInput {
  /** Decimal digits; any other form matches nothing. */
  broadcaster_id: string
}

/** The answer of GetStreamKey. */
export interface GetStreamKeyAnswer {
  /** 1 to 1 entries. */
  data: StreamKey[]
}

/** The input of CreateStreamMarker. */
export interface CreateStreamMarkerInput {
  /** The broadcaster. A JSON number is accepted too. */
  user_id: string
  /** At most 140 characters. */
  description?: string | undefined
}

/** The answer of CreateStreamMarker. */
export interface CreateStreamMarkerAnswer {
  /** 1 to 1 entries. */
  data: StreamMarker[]
}

/** The input of GetStreamMarkers. Exactly one of `user_id`, `video_id` is given. */
export type GetStreamMarkersInput = {
  /** Decimal digits; any other form matches nothing. */
  user_id: string
  video_id?: undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
} | {
  user_id?: undefined
  /** Decimal digits; any other form matches nothing. */
  video_id: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
}

/** The answer of GetStreamMarkers. */
export interface GetStreamMarkersAnswer {
  data: MarkerListing[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GetUsers. */
export interface GetUsersInput {
  /** At most 100 entries. */
  id?: readonly string[] | undefined
  /** At most 100 entries. */
  login?: readonly string[] | undefined
}

/** The answer of GetUsers. */
export interface GetUsersAnswer {
  data: Profile[]
}

/** The input of UpdateUser. */
export interface UpdateUserInput {
  /** Empty: removes the description. Absent: changes nothing. At most 300 characters. */
  description?: string | undefined
}

/** The answer of UpdateUser. */
export interface UpdateUserAnswer {
  /** 1 to 1 entries. */
  data: Profile[]
}

/** The input of GetGames. */
export interface GetGamesInput {
  /** At most 100 entries. */
  id?: readonly string[] | undefined
  /** At most 100 entries. */
  name?: readonly string[] | undefined
  /** At most 100 entries. */
  igdb_id?: readonly string[] | undefined
}

/** The answer of GetGames. */
export interface GetGamesAnswer {
  data: Category[]
}

/** The input of SearchCategories. */
export interface SearchCategoriesInput {
  /** One or more words, or parts of words. At most 500 characters. */
  query: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of SearchCategories. */
export interface SearchCategoriesAnswer {
  data: Category[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GetVideos. Exactly one of `id`, `user_id`, `game_id` is given. */
export type GetVideosInput = {
  /** At most 100 entries. */
  id: readonly string[]
  user_id?: undefined
  game_id?: undefined
  /** Videos of the last 24 hours, 7 or 30 days (default: all). */
  period?: 'all' | 'day' | 'week' | 'month' | undefined
  /** Newest first (default), or most views first: `trending` is the same as `views`. */
  sort?: 'time' | 'trending' | 'views' | undefined
  /** All videos are archives: `highlight` and `upload` match nothing. */
  type?: 'all' | 'archive' | 'highlight' | 'upload' | undefined
  /** ISO 639-1 code or `other`; case-insensitive. */
  language?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
} | {
  id?: undefined
  /** Decimal digits; any other form matches nothing. */
  user_id: string
  game_id?: undefined
  /** Videos of the last 24 hours, 7 or 30 days (default: all). */
  period?: 'all' | 'day' | 'week' | 'month' | undefined
  /** Newest first (default), or most views first: `trending` is the same as `views`. */
  sort?: 'time' | 'trending' | 'views' | undefined
  /** All videos are archives: `highlight` and `upload` match nothing. */
  type?: 'all' | 'archive' | 'highlight' | 'upload' | undefined
  /** ISO 639-1 code or `other`; case-insensitive. */
  language?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
} | {
  id?: undefined
  user_id?: undefined
  /** Decimal digits; any other form matches nothing. */
  game_id: string
  /** Videos of the last 24 hours, 7 or 30 days (default: all). */
  period?: 'all' | 'day' | 'week' | 'month' | undefined
  /** Newest first (default), or most views first: `trending` is the same as `views`. */
  sort?: 'time' | 'trending' | 'views' | undefined
  /** All videos are archives: `highlight` and `upload` match nothing. */
  type?: 'all' | 'archive' | 'highlight' | 'upload' | undefined
  /** ISO 639-1 code or `other`; case-insensitive. */
  language?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
}

/** The answer of GetVideos. */
export interface GetVideosAnswer {
  data: PublicVideo[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of DeleteVideos. */
export interface DeleteVideosInput {
  /** 1 to 5 entries. */
  id: readonly string[]
}

/** The answer of DeleteVideos. */
export interface DeleteVideosAnswer {
  data: string[]
}

/** The input of GetChannelInformation. */
export interface GetChannelInformationInput {
  /** At most 100 entries. */
  broadcaster_id: readonly string[]
}

/** The answer of GetChannelInformation. */
export interface GetChannelInformationAnswer {
  data: ChannelInformation[]
}

/** The input of ModifyChannelInformation. */
export interface ModifyChannelInformationInput {
  /** Decimal digits; any other form matches nothing. */
  broadcaster_id: string
  /** At most 140 characters. */
  title?: string | undefined
  /** Empty or `0`: no game. */
  game_id?: string | undefined
  broadcaster_language?: string | undefined
  /** At most 10, each of 1 to 25 letters or digits. */
  tags?: readonly string[] | undefined
  /** Seconds; more than 0 for partners only. A string of digits is accepted too. 0 to 900. */
  delay?: number | undefined
  /** Labels that are not listed keep their state. Labels: `DebatedSocialIssuesAndPolitics`, `DrugsIntoxication`, `Gambling`, `ProfanityVulgarity`, `SexualThemes`, `ViolentGraphic`; `MatureGame` follows the channel's mature setting. */
  content_classification_labels?: readonly (string | {
    id: string
    is_enabled: boolean
  })[] | undefined
  is_branded_content?: boolean | undefined
}

/** The input of GetFollowedChannels. */
export interface GetFollowedChannelsInput {
  /** Decimal digits; any other form matches nothing. */
  user_id: string
  /** Decimal digits; any other form matches nothing. */
  broadcaster_id?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of GetFollowedChannels. */
export interface GetFollowedChannelsAnswer {
  /** The number of channels that the user follows, also with `broadcaster_id`. */
  total: number
  data: FollowedChannel[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GetChannelFollowers. */
export interface GetChannelFollowersInput {
  /** Decimal digits; any other form matches nothing. */
  broadcaster_id: string
  /** Decimal digits; any other form matches nothing. */
  user_id?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of GetChannelFollowers. */
export interface GetChannelFollowersAnswer {
  /** The number of followers, also with `user_id`. */
  total: number
  data: ChannelFollower[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GetChannelEditors. */
export interface GetChannelEditorsInput {
  /** Decimal digits; any other form matches nothing. */
  broadcaster_id: string
}

/** The answer of GetChannelEditors. */
export interface GetChannelEditorsAnswer {
  data: ChannelEditor[]
}

/** The input of GetTopGames. */
export interface GetTopGamesInput {
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
  /** Cursor of the following page, to page backwards. */
  before?: string | undefined
}

/** The answer of GetTopGames. */
export interface GetTopGamesAnswer {
  data: Category[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of SearchChannels. */
export interface SearchChannelsInput {
  /** The beginning of a name. At most 500 characters. */
  query: string
  /** `true`: only live channels, also those whose game begins with the query. Case-insensitive (default: false). */
  live_only?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of SearchChannels. */
export interface SearchChannelsAnswer {
  data: FoundChannel[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ExportStreamMarkers. */
export interface ExportStreamMarkersInput {
  /** Decimal digits; any other form matches nothing. */
  video_id: string
  format: 'csv' | 'edl' | 'fcpxml' | 'otio' | 'ffmetadata' | 'vtt' | 'youtube' | 'json'
  /** Frames per second of the edited video (default: 30). Timecode is drop-frame with `29.97` and `59.94`. */
  fps?: '23.976' | '24' | '25' | '29.97' | '30' | '50' | '59.94' | '60' | undefined
}

/** The input of CreateEventSubSubscription. */
export interface CreateEventSubSubscriptionInput {
  type: string
  version: string
  /** What the events are about; the fields depend on the type. */
  condition: { readonly [name: string]: unknown }
  transport: {
    /** `webhook` or `websocket`. */
    method: string
    /** Of a webhook: an https URL with port 443. At most 2048 characters. */
    callback?: string | undefined
    /** Of a webhook: 10 to 100 ASCII characters. */
    secret?: string | undefined
    /** Of a WebSocket: from its welcome message. */
    session_id?: string | undefined
  }
  /** Has to be true for `drop.entitlement.grant`. */
  is_batching_enabled?: boolean | undefined
}

/** The answer of CreateEventSubSubscription. */
export interface CreateEventSubSubscriptionAnswer {
  /** 1 to 1 entries. */
  data: EventSubscription[]
  /** The number of subscriptions, whatever the filter. */
  total: number
  /** The sum of the costs of subscriptions that are enabled or pending. */
  total_cost: number
  max_total_cost: number
}

/** The input of GetEventSubSubscriptions. */
export interface GetEventSubSubscriptionsInput {
  /** Whether messages are sent, and if not, why. */
  status?: SubscriptionStatus | undefined
  type?: string | undefined
  /** Subscriptions whose condition names this user. */
  user_id?: string | undefined
  subscription_id?: string | undefined
  /** Page size (default: 100). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of GetEventSubSubscriptions. */
export interface GetEventSubSubscriptionsAnswer {
  data: EventSubscription[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
  /** The number of subscriptions, whatever the filter. */
  total: number
  /** The sum of the costs of subscriptions that are enabled or pending. */
  total_cost: number
  max_total_cost: number
}

/** The input of DeleteEventSubSubscription. */
export interface DeleteEventSubSubscriptionInput {
  id: string
}

/** The input of CreateToken with the grant `client_credentials`. */
export interface CreateTokenByClientCredentialsInput {
  grant_type: 'client_credentials'
  /** At most 200 characters. */
  client_id: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret: string
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateToken with the grant `authorization_code`. */
export interface CreateTokenByAuthorizationCodeInput {
  grant_type: 'authorization_code'
  /** At most 200 characters. */
  client_id: string
  /** At most 4000 characters. */
  code: string
  /** At most 2100 characters. */
  redirect_uri: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret?: string | undefined
  /** Required if the authorization request had a `code_challenge`. At most 1000 characters. */
  code_verifier?: string | undefined
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateToken with the grant `refresh_token`. */
export interface CreateTokenByRefreshTokenInput {
  grant_type: 'refresh_token'
  /** At most 200 characters. */
  client_id: string
  /** At most 4000 characters. */
  refresh_token: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret?: string | undefined
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateToken with the grant `urn:ietf:params:oauth:grant-type:device_code`. */
export interface CreateTokenByDeviceCodeInput {
  grant_type: 'urn:ietf:params:oauth:grant-type:device_code'
  /** At most 200 characters. */
  client_id: string
  /** At most 4000 characters. */
  device_code: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret?: string | undefined
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateToken, by grant. */
export type CreateTokenInput = CreateTokenByClientCredentialsInput | CreateTokenByAuthorizationCodeInput | CreateTokenByRefreshTokenInput | CreateTokenByDeviceCodeInput

/** The answer of CreateToken. */
export type CreateTokenAnswer = TokenAnswer

/** The input of CreateDeviceCode. */
export interface CreateDeviceCodeInput {
  /** At most 200 characters. */
  client_id?: string | undefined
  /** Optional; checked if a confidential client sends it. At most 1000 characters. */
  client_secret?: string | undefined
  /** Space-separated. At most 50. At most 16000 characters. */
  scopes?: string | undefined
  /** Same as `scopes`, under the name of the standard. At most 50. At most 16000 characters. */
  scope?: string | undefined
}

/** The answer of CreateDeviceCode. */
export interface CreateDeviceCodeAnswer {
  device_code: string
  expires_in: number
  /** Seconds to wait between requests to the token endpoint. */
  interval: number
  user_code: string
  verification_uri: string
}

/** The input of ValidateToken. */
export interface ValidateTokenInput {
}

/** The answer of ValidateToken. */
export type ValidateTokenAnswer = Validation

/** The input of RevokeToken. */
export interface RevokeTokenInput {
  /** At most 200 characters. */
  client_id?: string | undefined
  /** At most 4000 characters. */
  token?: string | undefined
}

/** The input of MintUserToken. */
export interface MintUserTokenInput {
  /** `user_token`. At most 100 characters. */
  grant_type?: string | undefined
  /** At most 200 characters. */
  client_id?: string | undefined
  /** At most 1000 characters. */
  client_secret?: string | undefined
  /** At most 100 characters. */
  user_id?: string | undefined
  /** Space-separated. At most 50. At most 16000 characters. */
  scope?: string | undefined
}

/** The answer of MintUserToken. */
export type MintUserTokenAnswer = TokenAnswer

/** The input of GetOpenidConfiguration. */
export interface GetOpenidConfigurationInput {
}

/** The answer of GetOpenidConfiguration. */
export type GetOpenidConfigurationAnswer = OpenidConfiguration

/** The input of GetSigningKeys. */
export interface GetSigningKeysInput {
}

/** The answer of GetSigningKeys. */
export interface GetSigningKeysAnswer {
  keys: SigningKey[]
}

/** The input of CreateOpenidToken with the grant `client_credentials`. */
export interface CreateOpenidTokenByClientCredentialsInput {
  grant_type: 'client_credentials'
  /** At most 200 characters. */
  client_id: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret: string
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateOpenidToken with the grant `authorization_code`. */
export interface CreateOpenidTokenByAuthorizationCodeInput {
  grant_type: 'authorization_code'
  /** At most 200 characters. */
  client_id: string
  /** At most 4000 characters. */
  code: string
  /** At most 2100 characters. */
  redirect_uri: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret?: string | undefined
  /** Required if the authorization request had a `code_challenge`. At most 1000 characters. */
  code_verifier?: string | undefined
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateOpenidToken with the grant `refresh_token`. */
export interface CreateOpenidTokenByRefreshTokenInput {
  grant_type: 'refresh_token'
  /** At most 200 characters. */
  client_id: string
  /** At most 4000 characters. */
  refresh_token: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret?: string | undefined
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateOpenidToken with the grant `urn:ietf:params:oauth:grant-type:device_code`. */
export interface CreateOpenidTokenByDeviceCodeInput {
  grant_type: 'urn:ietf:params:oauth:grant-type:device_code'
  /** At most 200 characters. */
  client_id: string
  /** At most 4000 characters. */
  device_code: string
  /** Required for confidential clients, with every grant. At most 1000 characters. */
  client_secret?: string | undefined
  /** Ignored: app tokens have no scopes, and refreshed tokens keep theirs. At most 50. At most 16000 characters. */
  scope?: string | undefined
  /** Ignored with a device code, which has its scopes already. At most 50. At most 16000 characters. */
  scopes?: string | undefined
}

/** The input of CreateOpenidToken, by grant. */
export type CreateOpenidTokenInput = CreateOpenidTokenByClientCredentialsInput | CreateOpenidTokenByAuthorizationCodeInput | CreateOpenidTokenByRefreshTokenInput | CreateOpenidTokenByDeviceCodeInput

/** The answer of CreateOpenidToken. */
export type CreateOpenidTokenAnswer = StandardTokenAnswer

/** The input of GetUserInfo. */
export interface GetUserInfoInput {
}

/** The answer of GetUserInfo. */
export type GetUserInfoAnswer = UserInfo

/** The input of CreatePlaybackSession. */
export interface CreatePlaybackSessionInput {
  /** At most 25 characters. */
  login?: string | undefined
  /** At most 19 characters. */
  video_id?: string | undefined
}

/** The answer of CreatePlaybackSession. */
export interface CreatePlaybackSessionAnswer {
  /** 1 to 1 entries. */
  data: {
    /** Opaque. Send it with each heartbeat. */
    session: string
    /** RFC 3339 UTC with milliseconds. */
    expires_at: string
    /** How often to send a heartbeat. */
    heartbeat_seconds: number
  }[]
}

/** The input of SendHeartbeat. */
export interface SendHeartbeatInput {
  /** At most 500 characters. */
  session: string
}

/** The input of GetLatestStreams. */
export interface GetLatestStreamsInput {
  /** How many (default: 20). 1 to 20. */
  first?: number | undefined
}

/** The answer of GetLatestStreams. */
export interface GetLatestStreamsAnswer {
  data: Stream[]
}

/** The input of CreateUser. */
export interface CreateUserInput {
  login: string
  /** At most 50 characters. */
  display_name?: string | undefined
  /** At most 300 characters. */
  description?: string | undefined
  broadcaster_type?: '' | 'affiliate' | 'partner' | undefined
  /** Shown only to the user, and to clients with the scope `user:read:email`. Null: none. */
  email?: string | null | undefined
  /** At most 200 characters. */
  password?: string | undefined
  created_at?: string | undefined
}

/** The answer of CreateUser. */
export interface CreateUserAnswer {
  /** 1 to 1 entries. */
  data: User[]
}

/** The input of DeleteUser. */
export interface DeleteUserInput {
  user_id: string
}

/** The input of GetUser. */
export interface GetUserInput {
  user_id: string
}

/** The answer of GetUser. */
export interface GetUserAnswer {
  /** 1 to 1 entries. */
  data: User[]
}

/** The input of ListUsers. */
export interface ListUsersInput {
  login?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListUsers. */
export interface ListUsersAnswer {
  data: User[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PutUser. */
export interface PutUserInput {
  user_id: string
  login?: string | undefined
  /** At most 50 characters. */
  display_name?: string | undefined
  /** At most 300 characters. */
  description?: string | undefined
  broadcaster_type?: '' | 'affiliate' | 'partner' | undefined
  /** Shown only to the user, and to clients with the scope `user:read:email`. Null: none. */
  email?: string | null | undefined
  /** At most 200 characters. */
  password?: string | undefined
  created_at?: string | undefined
}

/** The answer of PutUser. */
export interface PutUserAnswer {
  /** 1 to 1 entries. */
  data: User[]
}

/** The input of CreateOrganization. */
export interface CreateOrganizationInput {
  /** At most 100 characters. */
  name: string
}

/** The answer of CreateOrganization. */
export interface CreateOrganizationAnswer {
  /** 1 to 1 entries. */
  data: Organization[]
}

/** The input of DeleteMember. */
export interface DeleteMemberInput {
  organization_id: string
  user_id: string
}

/** The input of DeleteOrganization. */
export interface DeleteOrganizationInput {
  organization_id: string
}

/** The input of GetOrganization. */
export interface GetOrganizationInput {
  organization_id: string
}

/** The answer of GetOrganization. */
export interface GetOrganizationAnswer {
  /** 1 to 1 entries. */
  data: Organization[]
}

/** The input of ListMembers. */
export interface ListMembersInput {
  organization_id: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListMembers. */
export interface ListMembersAnswer {
  data: User[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ListOrganizations. */
export interface ListOrganizationsInput {
  /** Exact match, case-sensitive. */
  name?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListOrganizations. */
export interface ListOrganizationsAnswer {
  data: Organization[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PutMember. */
export interface PutMemberInput {
  organization_id: string
  user_id: string
}

/** The input of PutOrganization. */
export interface PutOrganizationInput {
  organization_id: string
  /** At most 100 characters. */
  name?: string | undefined
}

/** The answer of PutOrganization. */
export interface PutOrganizationAnswer {
  /** 1 to 1 entries. */
  data: Organization[]
}

/** The input of CreateGame. */
export interface CreateGameInput {
  /** At most 100 characters. */
  name: string
  organization_id?: string | null | undefined
  /** The id of the game at IGDB; empty: unknown. */
  igdb_id?: string | undefined
}

/** The answer of CreateGame. */
export interface CreateGameAnswer {
  /** 1 to 1 entries. */
  data: Game[]
}

/** The input of DeleteGame. */
export interface DeleteGameInput {
  game_id: string
}

/** The input of GetGame. */
export interface GetGameInput {
  game_id: string
}

/** The answer of GetGame. */
export interface GetGameAnswer {
  /** 1 to 1 entries. */
  data: Game[]
}

/** The input of ListGames. */
export interface ListGamesInput {
  organization_id?: string | undefined
  /** Exact match, case-sensitive. */
  name?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListGames. */
export interface ListGamesAnswer {
  data: Game[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PutGame. */
export interface PutGameInput {
  game_id: string
  /** At most 100 characters. */
  name?: string | undefined
  organization_id?: string | null | undefined
  /** The id of the game at IGDB; empty: unknown. */
  igdb_id?: string | undefined
}

/** The answer of PutGame. */
export interface PutGameAnswer {
  /** 1 to 1 entries. */
  data: Game[]
}

/** The input of CreateBenefit. */
export interface CreateBenefitInput {
  /** At most 100 characters. */
  name: string
  organization_id: string
  game_id?: string | null | undefined
}

/** The answer of CreateBenefit. */
export interface CreateBenefitAnswer {
  /** 1 to 1 entries. */
  data: Benefit[]
}

/** The input of DeleteBenefit. */
export interface DeleteBenefitInput {
  benefit_id: string
}

/** The input of GetBenefit. */
export interface GetBenefitInput {
  benefit_id: string
}

/** The answer of GetBenefit. */
export interface GetBenefitAnswer {
  /** 1 to 1 entries. */
  data: Benefit[]
}

/** The input of ListBenefits. */
export interface ListBenefitsInput {
  organization_id?: string | undefined
  game_id?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListBenefits. */
export interface ListBenefitsAnswer {
  data: Benefit[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PutBenefit. */
export interface PutBenefitInput {
  benefit_id: string
  /** At most 100 characters. */
  name?: string | undefined
  organization_id?: string | undefined
  game_id?: string | null | undefined
}

/** The answer of PutBenefit. */
export interface PutBenefitAnswer {
  /** 1 to 1 entries. */
  data: Benefit[]
}

/** The input of CreateClient. */
export interface CreateClientInput {
  /** At most 100 characters. */
  name: string
  kind?: 'confidential' | 'public' | undefined
  organization_id?: string | null | undefined
  owner_user_id?: string | null | undefined
  /** At most 20 entries. */
  redirect_uris?: readonly string[] | undefined
  implicit_grant?: boolean | undefined
  /** Default: true for public clients, false for confidential ones. */
  device_flow?: boolean | undefined
}

/** The answer of CreateClient. */
export interface CreateClientAnswer {
  /** 1 to 1 entries. */
  data: RegisteredClientWithSecret[]
}

/** The input of DeleteClient. */
export interface DeleteClientInput {
  client_id: string
}

/** The input of GetClient. */
export interface GetClientInput {
  client_id: string
}

/** The answer of GetClient. */
export interface GetClientAnswer {
  /** 1 to 1 entries. */
  data: RegisteredClient[]
}

/** The input of ListClients. */
export interface ListClientsInput {
  organization_id?: string | undefined
  owner_user_id?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListClients. */
export interface ListClientsAnswer {
  data: RegisteredClient[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PatchClient. */
export interface PatchClientInput {
  client_id: string
  /** At most 100 characters. */
  name?: string | undefined
  kind?: 'confidential' | 'public' | undefined
  organization_id?: string | null | undefined
  owner_user_id?: string | null | undefined
  /** At most 20 entries. */
  redirect_uris?: readonly string[] | undefined
  implicit_grant?: boolean | undefined
  /** Default: true for public clients, false for confidential ones. */
  device_flow?: boolean | undefined
}

/** The answer of PatchClient. */
export interface PatchClientAnswer {
  /** 1 to 1 entries. */
  data: RegisteredClient[]
}

/** The input of RotateClientSecret. */
export interface RotateClientSecretInput {
  client_id: string
}

/** The answer of RotateClientSecret. */
export interface RotateClientSecretAnswer {
  /** 1 to 1 entries. */
  data: RegisteredClientWithSecret[]
}

/** The input of EndToken. */
export interface EndTokenInput {
  token: string
}

/** The input of IssueToken. */
export interface IssueTokenInput {
  client_id: string
  user_id?: string | undefined
  /** At most 100 entries. */
  scopes?: readonly string[] | undefined
  /** Seconds. 1 to 315360000. */
  expires_in?: number | undefined
}

/** The answer of IssueToken. */
export interface IssueTokenAnswer {
  /** 1 to 1 entries. */
  data: TokenAnswer[]
}

/** The input of DeleteEditor. */
export interface DeleteEditorInput {
  user_id: string
  editor_id: string
}

/** The input of EndStream. */
export interface EndStreamInput {
  user_id: string
}

/** The input of GetChannel. */
export interface GetChannelInput {
  user_id: string
}

/** The answer of GetChannel. */
export interface GetChannelAnswer {
  /** 1 to 1 entries. */
  data: Channel[]
}

/** The input of GetStream. */
export interface GetStreamInput {
  user_id: string
}

/** The answer of GetStream. */
export interface GetStreamAnswer {
  /** 1 to 1 entries. */
  data: Stream[]
}

/** The input of KickPublisher. */
export interface KickPublisherInput {
  user_id: string
}

/** The input of ListEditors. */
export interface ListEditorsInput {
  user_id: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListEditors. */
export interface ListEditorsAnswer {
  data: User[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ListStreams. */
export interface ListStreamsInput {
  /** Decimal digits; any other form matches nothing. */
  game_id?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListStreams. */
export interface ListStreamsAnswer {
  data: Stream[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PatchChannel. */
export interface PatchChannelInput {
  user_id: string
  /** At most 140 characters. */
  title?: string | undefined
  /** Empty or null: no game. */
  game_id?: string | '' | null | undefined
  language?: string | undefined
  /** At most 10 entries. */
  tags?: readonly string[] | undefined
  is_mature?: boolean | undefined
  vod_enabled?: boolean | undefined
  /** Seconds. 0 to 900. */
  delay?: number | undefined
  /** At most 6 entries. */
  content_classification_labels?: readonly ('DebatedSocialIssuesAndPolitics' | 'DrugsIntoxication' | 'Gambling' | 'ProfanityVulgarity' | 'SexualThemes' | 'ViolentGraphic')[] | undefined
  is_branded_content?: boolean | undefined
  /** What happens if a second publisher comes while one is live. */
  second_publisher?: 'refuse' | 'take_over' | undefined
}

/** The answer of PatchChannel. */
export interface PatchChannelAnswer {
  /** 1 to 1 entries. */
  data: Channel[]
}

/** The input of PutEditor. */
export interface PutEditorInput {
  user_id: string
  editor_id: string
  created_at?: string | undefined
}

/** The input of RotateStreamKey. */
export interface RotateStreamKeyInput {
  user_id: string
  /** 0 to 604800. */
  grace_seconds?: number | undefined
}

/** The answer of RotateStreamKey. */
export interface RotateStreamKeyAnswer {
  /** 1 to 1 entries. */
  data: StreamKey[]
}

/** The input of StartStream. */
export interface StartStreamInput {
  user_id: string
  started_at?: string | undefined
  /** 0 to 2000000000. */
  viewer_count?: number | undefined
}

/** The answer of StartStream. */
export interface StartStreamAnswer {
  /** 1 to 1 entries. */
  data: Stream[]
}

/** The input of CreateStreamKey. */
export interface CreateStreamKeyInput {
  user_id: string
  name: string
  /** Default: valid until it is deleted. */
  valid_until?: string | undefined
}

/** The answer of CreateStreamKey. */
export interface CreateStreamKeyAnswer {
  /** 1 to 1 entries. */
  data: {
    name: string
    /** RFC 3339 UTC with milliseconds. */
    created_at: string
    valid_until: string | null
    stream_key: string
  }[]
}

/** The input of DeleteStreamKey. */
export interface DeleteStreamKeyInput {
  user_id: string
  name: string
}

/** The input of ListStreamKeys. */
export interface ListStreamKeysInput {
  user_id: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListStreamKeys. */
export interface ListStreamKeysAnswer {
  data: ExtraStreamKey[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ReadStreamKey. */
export interface ReadStreamKeyInput {
  user_id: string
  /** Name of an extra key. Default: the main key. */
  name?: string | undefined
}

/** The answer of ReadStreamKey. */
export interface ReadStreamKeyAnswer {
  /** 1 to 1 entries. */
  data: StreamKey[]
}

/** The input of DeleteFollow. */
export interface DeleteFollowInput {
  user_id: string
  broadcaster_id: string
}

/** The input of ListFollows. */
export interface ListFollowsInput {
  user_id: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListFollows. */
export interface ListFollowsAnswer {
  data: User[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PutFollow. */
export interface PutFollowInput {
  user_id: string
  broadcaster_id: string
  followed_at?: string | undefined
}

/** The input of PutFollows. */
export interface PutFollowsInput {
  /** 1 to 10000 entries. */
  follows: readonly {
    user_id: string
    broadcaster_id: string
    followed_at?: string | undefined
  }[]
}

/** The input of ReportViewers. */
export interface ReportViewersInput {
  /** Viewer count by user id. */
  counts: { readonly [name: string]: number }
}

/** The input of GetEntitlement. */
export interface GetEntitlementInput {
  entitlement_id: string
}

/** The answer of GetEntitlement. */
export interface GetEntitlementAnswer {
  /** 1 to 1 entries. */
  data: Entitlement[]
}

/** The input of GetEntitlementHistory. */
export interface GetEntitlementHistoryInput {
  entitlement_id: string
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of GetEntitlementHistory. */
export interface GetEntitlementHistoryAnswer {
  data: EntitlementTransition[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of GrantEntitlements. */
export interface GrantEntitlementsInput {
  /** 1 to 1000 entries. */
  grants: readonly {
    user_id: string
    benefit_id: string
    game_id: string
    id?: string | undefined
    timestamp?: string | undefined
  }[]
}

/** The answer of GrantEntitlements. */
export interface GrantEntitlementsAnswer {
  data: Entitlement[]
}

/** The input of ListEntitlements. */
export interface ListEntitlementsInput {
  organization_id?: string | undefined
  user_id?: string | undefined
  game_id?: string | undefined
  benefit_id?: string | undefined
  /** Whether the benefit has been given to the user. */
  fulfillment_status?: FulfillmentStatus | undefined
  /** At most 100 entries. */
  id?: readonly string[] | undefined
  /** Page size (default: 20, or 100 with `id`). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListEntitlements. */
export interface ListEntitlementsAnswer {
  data: Entitlement[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of DeleteVideo. */
export interface DeleteVideoInput {
  video_id: string
}

/** The input of GetVideo. */
export interface GetVideoInput {
  video_id: string
}

/** The answer of GetVideo. */
export interface GetVideoAnswer {
  /** 1 to 1 entries. */
  data: Video[]
}

/** The input of ListVideos. */
export interface ListVideosInput {
  /** Decimal digits; any other form matches nothing. */
  user_id?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListVideos. */
export interface ListVideosAnswer {
  data: Video[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PatchVideo. */
export interface PatchVideoInput {
  video_id: string
  /** At most 140 characters. */
  title?: string | undefined
  /** At most 300 characters. */
  description?: string | undefined
  /** 0 to 2000000000. */
  view_count?: number | undefined
}

/** The answer of PatchVideo. */
export interface PatchVideoAnswer {
  /** 1 to 1 entries. */
  data: Video[]
}

/** The input of ExportVideoMarkers. */
export interface ExportVideoMarkersInput {
  video_id: string
  format: 'csv' | 'edl' | 'fcpxml' | 'otio' | 'ffmetadata' | 'vtt' | 'youtube' | 'json'
  /** Frames per second of the edited video (default: 30). Timecode is drop-frame with `29.97` and `59.94`. */
  fps?: '23.976' | '24' | '25' | '29.97' | '30' | '50' | '59.94' | '60' | undefined
}

/** The input of DeleteMediaServer. */
export interface DeleteMediaServerInput {
  name: string
}

/** The input of GetMediaServer. */
export interface GetMediaServerInput {
  name: string
}

/** The answer of GetMediaServer. */
export interface GetMediaServerAnswer {
  /** 1 to 1 entries. */
  data: MediaServer[]
}

/** The input of ListMediaServers. */
export interface ListMediaServersInput {
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListMediaServers. */
export interface ListMediaServersAnswer {
  data: MediaServer[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of PutMediaServer. */
export interface PutMediaServerInput {
  name: string
  adapter: 'nginx-rtmp' | 'mediamtx' | 'srs' | 'ovenmediaengine' | 'node-media-server' | 'owncast' | 'generic'
  api_url?: string | null | undefined
  playback_url?: string | null | undefined
  user_id?: string | null | undefined
}

/** The answer of PutMediaServer. */
export interface PutMediaServerAnswer {
  /** 1 to 1 entries. */
  data: MediaServerWithSecret[]
}

/** The input of RotateMediaServerSecret. */
export interface RotateMediaServerSecretInput {
  name: string
  /** Default: 3600. 0 to 604800. */
  grace_seconds?: number | undefined
}

/** The answer of RotateMediaServerSecret. */
export interface RotateMediaServerSecretAnswer {
  /** 1 to 1 entries. */
  data: MediaServerWithSecret[]
}

/** The input of DeleteEventSubscription. */
export interface DeleteEventSubscriptionInput {
  id: string
}

/** The input of ListDeliveries. */
export interface ListDeliveriesInput {
  subscription_id?: string | undefined
  event_id?: string | undefined
  status?: 'pending' | 'delivered' | 'failed' | 'canceled' | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListDeliveries. */
export interface ListDeliveriesAnswer {
  data: EventDelivery[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ListEventSubscriptions. */
export interface ListEventSubscriptionsInput {
  client_id?: string | undefined
  type?: string | undefined
  /** Whether messages are sent, and if not, why. */
  status?: SubscriptionStatus | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListEventSubscriptions. */
export interface ListEventSubscriptionsAnswer {
  data: OperatorSubscription[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ListEvents. */
export interface ListEventsInput {
  type?: string | undefined
  /** The id of a broadcaster, user or organization. */
  subject?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListEvents. */
export interface ListEventsAnswer {
  data: StoredEvent[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ReplayEvents. */
export interface ReplayEventsInput {
  since: string
  /** Default: all subscriptions. */
  subscription_id?: string | undefined
}

/** The answer of ReplayEvents. */
export interface ReplayEventsAnswer {
  /** 1 to 1 entries. */
  data: {
    /** How many are sent again. */
    messages: number
  }[]
}

/** The input of ResendDelivery. */
export interface ResendDeliveryInput {
  id: string
}

/** The answer of ResendDelivery. */
export interface ResendDeliveryAnswer {
  /** 1 to 1 entries. */
  data: EventDelivery[]
}

/** The input of CreateOperator. */
export interface CreateOperatorInput {
  name: string
}

/** The answer of CreateOperator. */
export interface CreateOperatorAnswer {
  /** 1 to 1 entries. */
  data: OperatorTokenWithSecret[]
}

/** The input of DeleteOperator. */
export interface DeleteOperatorInput {
  name: string
}

/** The input of ListOperators. */
export interface ListOperatorsInput {
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListOperators. */
export interface ListOperatorsAnswer {
  data: OperatorToken[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of ListAudit. */
export interface ListAuditInput {
  /** Exact match, such as `operator/night-shift`. */
  actor?: string | undefined
  /** Exact match, such as `DeleteUser`. */
  operation?: string | undefined
  /** Exact match, such as `user/141981764`. An entitlement also matches the changes of several at once. */
  subject?: string | undefined
  since?: string | undefined
  until?: string | undefined
  /** Page size (default: 20). 1 to 100. */
  first?: number | undefined
  /** Cursor of the previous page. */
  after?: string | undefined
}

/** The answer of ListAudit. */
export interface ListAuditAnswer {
  data: AuditEntry[]
  /** Empty on the last page in the requested direction. */
  pagination: Pagination
}

/** The input of AdvanceClock. */
export interface AdvanceClockInput {
  /** Rounded to milliseconds. 0.001 to 315360000. */
  advance_seconds?: number | undefined
  /** The time to move to. */
  time?: string | undefined
  running?: boolean | undefined
}

/** The answer of AdvanceClock. */
export interface AdvanceClockAnswer {
  /** 1 to 1 entries. */
  data: {
    /** RFC 3339 UTC with milliseconds. */
    now: string
    /** Whether the clock advances with real time. */
    running: boolean
  }[]
}

/** The input of ClearFaults. */
export interface ClearFaultsInput {
}

/** The input of ClearRequests. */
export interface ClearRequestsInput {
}

/** The input of ListFaults. */
export interface ListFaultsInput {
}

/** The answer of ListFaults. */
export interface ListFaultsAnswer {
  data: Fault[]
}

/** The input of ListRequests. */
export interface ListRequestsInput {
  /** Only requests of this operation. */
  operation?: string | undefined
  /** Only requests with a greater number. */
  after?: number | undefined
  /** Maximum number of requests (default: 1000). 1 to 1000. */
  first?: number | undefined
  /** How long to wait if there is none (default: 0). 0 to 10000. */
  wait_milliseconds?: number | undefined
}

/** The answer of ListRequests. */
export interface ListRequestsAnswer {
  /** Number of requests of the operation, or of all, since the last reset or clear. */
  total: number
  data: RecordedRequest[]
}

/** The input of PlanFault. */
export interface PlanFaultInput {
  /** The name of an operation, such as UpdateDropsEntitlements. At most 100 characters. */
  operation: OperationName
  /** What happens: `unavailable` is 503, `rate_limited` 429, `internal_error` 500, `bad_gateway` 502 with a page of HTML, `token_invalid` 401. `slow` delays the call. `connection_reset` ends the connection before anything happens; `answer_lost` does so when the call has taken effect; `broken_json` cuts the answer short. `update_failed` is the status of an entitlement. */
  outcome: 'update_failed' | 'unavailable' | 'rate_limited' | 'slow' | 'internal_error' | 'bad_gateway' | 'token_invalid' | 'broken_json' | 'connection_reset' | 'answer_lost'
  /** With `update_failed`: the entitlement whose update fails (default: any); in a scenario its id or its name. At most 100 characters. */
  entitlement_id?: string | undefined
  /** Only calls with these parameters or fields of the body; of a list, one entry has to match. In a scenario a value may be the name of an entry, for its id. */
  where?: { readonly [name: string]: string | number | boolean } | undefined
  /** With `slow`: the delay (default: 5000). 1 to 60000. */
  milliseconds?: number | undefined
  /** With `unavailable` and `rate_limited`: the seconds of Retry-After (default: 1). 0 to 3600. */
  retry_after?: number | undefined
  /** Number of calls that succeed before: 2 makes the third fail (default: 0). 0 to 1000000. */
  skip?: number | undefined
  /** Number of calls that fail (default: 1). 1 to 1000000. */
  times?: number | undefined
  /** The share of calls that fail, until `times` have (default: 1). 0 to 1. */
  probability?: number | undefined
  /** With `probability`: the same seed chooses the same calls (default: 0). 0 to 4294967295. */
  seed?: number | undefined
}

/** The answer of PlanFault. */
export interface PlanFaultAnswer {
  /** 1 to 1 entries. */
  data: Fault[]
}

/** The input of ReadClock. */
export interface ReadClockInput {
}

/** The answer of ReadClock. */
export interface ReadClockAnswer {
  /** 1 to 1 entries. */
  data: {
    /** RFC 3339 UTC with milliseconds. */
    now: string
    /** Whether the clock advances with real time. */
    running: boolean
  }[]
}

/** The input of ReadWorld. */
export interface ReadWorldInput {
}

/** The answer of ReadWorld. */
export interface ReadWorldAnswer {
  /** 1 to 1 entries. */
  data: { [name: string]: unknown }[]
}

/** The input of ResetWorld. */
export interface ResetWorldInput {
  /** `start` ignores the snapshot and removes it (default: `snapshot`, if there is one). */
  to?: 'snapshot' | 'start' | undefined
}

/** The input of SaveSnapshot. */
export interface SaveSnapshotInput {
}

/** The operations under `helix`. */
export interface HelixMethods {
  /**
   * List the entitlements of the client's organization, newest first.
   *
   * An app token lists all entitlements of the organization, a user token those of its user. Ids are case-insensitive; unknown ids are absent from the answer.
   *
   * Token: an app token, or a user token with `user:read:entitlements`.
   *
   * `GET /helix/entitlements/drops`
   */
  readonly getDropsEntitlements: ListMethod<GetDropsEntitlementsInput, GetDropsEntitlementsAnswer, Entitlement>
  /**
   * Set the fulfillment status of up to 100 entitlements and return the outcome for each id.
   *
   * Successful updates are written in one transaction that is durable before the answer is sent. Each id appears once, in the group of its status.
   *
   * Token: an app token, or a user token with `user:manage:entitlements`.
   *
   * `PATCH /helix/entitlements/drops`
   */
  readonly updateDropsEntitlements: UpdateMethod<UpdateDropsEntitlementsInput, UpdateDropsEntitlementsAnswer, EntitlementUpdate>
  /**
   * List live streams, most viewers first.
   *
   * Filters combine as (user_id or user_login) and game_id and language. Paging through the list returns every stream that stays live exactly once.
   *
   * Token: optional; must be valid if sent.
   *
   * `GET /helix/streams`
   */
  readonly getStreams: ListMethod<GetStreamsInput, GetStreamsAnswer, Stream>
  /**
   * List the live streams of the channels that the user follows, most viewers first.
   *
   * Token: a user token with `user:read:follows`.
   *
   * `GET /helix/streams/followed`
   */
  readonly getFollowedStreams: ListMethod<GetFollowedStreamsInput, GetFollowedStreamsAnswer, Stream>
  /**
   * Get the broadcaster's stream key.
   *
   * Token: a user token with `channel:read:stream_key`.
   *
   * `GET /helix/streams/key`
   */
  readonly getStreamKey: RowsMethod<GetStreamKeyInput, GetStreamKeyAnswer, StreamKey>
  /**
   * Create a marker at the current position of a live stream.
   *
   * Allowed for the broadcaster and the editors of the channel. A retry with the same Idempotency-Key returns the first marker.
   *
   * Token: a user token with `channel:manage:broadcast`.
   *
   * `POST /helix/streams/markers`
   */
  readonly createStreamMarker: RowsMethod<CreateStreamMarkerInput, CreateStreamMarkerAnswer, StreamMarker>
  /**
   * List the markers of a user's latest video, or of one video.
   *
   * Token: a user token with `user:read:broadcast` or `channel:manage:broadcast`.
   *
   * `GET /helix/streams/markers`
   */
  readonly getStreamMarkers: ListMethod<GetStreamMarkersInput, GetStreamMarkersAnswer, MarkerListing>
  /**
   * Get users by id and login, or the user of the token.
   *
   * Users are in the order of the request, first by id, then by login, each once; unknown users are absent. At most 100 ids and logins together.
   *
   * Token: an app or user token.
   *
   * `GET /helix/users`
   */
  readonly getUsers: RowsMethod<GetUsersInput, GetUsersAnswer, Profile>
  /**
   * Change the description of the user of the token.
   *
   * Token: a user token with `user:edit`.
   *
   * `PUT /helix/users`
   */
  readonly updateUser: RowsMethod<UpdateUserInput, UpdateUserAnswer, Profile>
  /**
   * Get games by id, name or IGDB id.
   *
   * Games are in the order of the request, first by id, then by name, then by IGDB id, each once; unknown games are absent. Games that share a name or an IGDB id are in the order of their ids. At most 100 values together.
   *
   * Token: an app or user token.
   *
   * `GET /helix/games`
   */
  readonly getGames: RowsMethod<GetGamesInput, GetGamesAnswer, Category>
  /**
   * Find games by the words of their names.
   *
   * Every word of the query must occur in the name, in any case. A game of exactly that name comes first, then names that begin with the query, then the others, each by name and id.
   *
   * Token: an app or user token.
   *
   * `GET /helix/search/categories`
   */
  readonly searchCategories: ListMethod<SearchCategoriesInput, SearchCategoriesAnswer, Category>
  /**
   * List videos of a user or of a game, or look videos up by id.
   *
   * Exactly one of `id`, `user_id` and `game_id` is required. With `id`, videos come in the order of the request, unknown ids are absent, and the other parameters have no effect. The video of a live stream is listed too. A video whose view count changes while a list sorted by views is paged through may appear twice or not at all; every other video appears exactly once.
   *
   * Token: an app or user token.
   *
   * `GET /helix/videos`
   */
  readonly getVideos: ListMethod<GetVideosInput, GetVideosAnswer, PublicVideo>
  /**
   * Delete up to five videos with their markers and return their ids.
   *
   * Only the owner may delete a video. If one of the videos belongs to another user, nothing is deleted. Unknown ids are ignored. A stream that is still live continues without a video.
   *
   * Token: a user token with `channel:manage:videos`.
   *
   * `DELETE /helix/videos`
   */
  readonly deleteVideos: RowsMethod<DeleteVideosInput, DeleteVideosAnswer, DeleteVideosAnswer['data'][number]>
  /**
   * Look up channels by the ids of their broadcasters.
   *
   * Returns channels in the order of the ids, each once. Unknown ids are omitted.
   *
   * Token: an app or user token.
   *
   * `GET /helix/channels`
   */
  readonly getChannelInformation: RowsMethod<GetChannelInformationInput, GetChannelInformationAnswer, ChannelInformation>
  /**
   * Update the user's channel; omitted fields keep their value.
   *
   * All fields are changed, or none. A live stream and its video show the change immediately. `null` counts as omitted.
   *
   * Token: a user token with `channel:manage:broadcast`.
   *
   * `PATCH /helix/channels`
   */
  readonly modifyChannelInformation: Method<ModifyChannelInformationInput, undefined>
  /**
   * List the channels that the user follows, the latest follow first.
   *
   * With `broadcaster_id`, the list has that channel only, or is empty if the user does not follow it.
   *
   * Token: a user token with `user:read:follows`.
   *
   * `GET /helix/channels/followed`
   */
  readonly getFollowedChannels: ListMethod<GetFollowedChannelsInput, GetFollowedChannelsAnswer, FollowedChannel>
  /**
   * List the followers of a channel, the latest follow first, or only count them.
   *
   * The broadcaster and the editors of the channel get rows, with a user token that has the scope `moderator:read:followers`. All other callers get `total` and no rows. With `user_id`, the list has that follower only, or is empty if the user does not follow the channel.
   *
   * Token: an app or user token.
   *
   * `GET /helix/channels/followers`
   */
  readonly getChannelFollowers: ListMethod<GetChannelFollowersInput, GetChannelFollowersAnswer, ChannelFollower>
  /**
   * List all editors of the user's channel, the newest first.
   *
   * Token: a user token with `channel:read:editors`.
   *
   * `GET /helix/channels/editors`
   */
  readonly getChannelEditors: RowsMethod<GetChannelEditorsInput, GetChannelEditorsAnswer, ChannelEditor>
  /**
   * List games with live streams, most viewers first.
   *
   * Games are ordered by the viewers of all their live streams together; streams without a game do not count. Paging through the list returns every game that has a live stream throughout exactly once.
   *
   * Token: an app or user token.
   *
   * `GET /helix/games/top`
   */
  readonly getTopGames: ListMethod<GetTopGamesInput, GetTopGamesAnswer, Category>
  /**
   * Find channels by the beginning of their login or display name.
   *
   * Case does not matter, and a space of the query may stand for `_` or for nothing. The channel whose login is the query comes first, then the others by login.
   *
   * Token: an app or user token.
   *
   * `GET /helix/search/channels`
   */
  readonly searchChannels: ListMethod<SearchChannelsInput, SearchChannelsAnswer, FoundChannel>
  /**
   * Export all markers of a video as a file for an editor, a player or a video site.
   *
   * See docs/markers.md for the formats and the programs that read them.
   *
   * Token: a user token with `user:read:broadcast` or `channel:manage:broadcast`.
   *
   * `GET /helix/streams/markers/export`
   */
  readonly exportStreamMarkers: Method<ExportStreamMarkersInput, string>
  /**
   * Subscribe to a type of event, by webhook or WebSocket.
   *
   * A webhook needs an app token and starts with a verification request; a WebSocket needs a user token. Event types are listed under Events.
   *
   * Token: an app or user token.
   *
   * `POST /helix/eventsub/subscriptions`
   */
  readonly createEventSubSubscription: RowsMethod<CreateEventSubSubscriptionInput, CreateEventSubSubscriptionAnswer, EventSubscription>
  /**
   * List the event subscriptions of the application, the oldest first.
   *
   * With an app token: those by webhook. With a user token: those by WebSocket that were made with tokens of this user. At most one filter.
   *
   * Token: an app or user token.
   *
   * `GET /helix/eventsub/subscriptions`
   */
  readonly getEventSubSubscriptions: ListMethod<GetEventSubSubscriptionsInput, GetEventSubSubscriptionsAnswer, EventSubscription>
  /**
   * Delete an event subscription of the application. Nothing more is sent.
   *
   * Token: an app or user token.
   *
   * `DELETE /helix/eventsub/subscriptions`
   */
  readonly deleteEventSubSubscription: Method<DeleteEventSubSubscriptionInput, undefined>
}

/** The operations under `oauth`. */
export interface OauthMethods {
  /**
   * Exchange credentials for an access token.
   *
   * Parameters are accepted in the query string, a form or a JSON body. An Authorization header is ignored.
   *
   * Token: none.
   *
   * `POST /oauth2/token`
   */
  readonly createToken: Method<CreateTokenInput, CreateTokenAnswer>
  /**
   * Start the device flow: returns a device code and a user code to enter on the verification page.
   *
   * Parameters are accepted in the query string, a form or a JSON body. The device flow must be enabled for the client; it is enabled for public clients by default. A network can have 100 pending codes; another one invalidates the oldest.
   *
   * Token: none.
   *
   * `POST /oauth2/device`
   */
  readonly createDeviceCode: Method<CreateDeviceCodeInput, CreateDeviceCodeAnswer>
  /**
   * Get the client, user, scopes and lifetime of a token.
   *
   * Send the token as `Authorization: OAuth <token>` or `Bearer <token>`. Requests with a valid token count against the rate limit of the client, others against that of the IP address.
   *
   * Token: none.
   *
   * `GET /oauth2/validate`
   */
  readonly validateToken: Method<ValidateTokenInput, ValidateTokenAnswer>
  /**
   * Revoke an access or refresh token of the client.
   *
   * Token: none.
   *
   * `POST /oauth2/revoke`
   */
  readonly revokeToken: Method<RevokeTokenInput, undefined>
  /**
   * Issue a user token without asking the user.
   *
   * Token: none.
   *
   * `POST /oauth2/authorize`
   */
  readonly mintUserToken: Method<MintUserTokenInput, MintUserTokenAnswer>
  /**
   * Describe the OpenID Connect provider to client libraries.
   *
   * Token: none.
   *
   * `GET /oauth2/.well-known/openid-configuration`
   */
  readonly getOpenidConfiguration: Method<GetOpenidConfigurationInput, GetOpenidConfigurationAnswer>
  /**
   * List the public keys that verify ID tokens.
   *
   * A new key is listed before it is used, and the previous key for one day after.
   *
   * Token: none.
   *
   * `GET /oauth2/keys`
   */
  readonly getSigningKeys: Method<GetSigningKeysInput, GetSigningKeysAnswer>
  /**
   * Exchange credentials for an access token, in the format of the standards.
   *
   * Same parameters and behaviour as `/oauth2/token`, with three differences: `scope` in the answer is one string, errors also carry `error` and `error_description`, and a client may send its credentials as `Authorization: Basic`.
   *
   * Token: none.
   *
   * `POST /oauth2/openid/token`
   */
  readonly createOpenidToken: Method<CreateOpenidTokenInput, CreateOpenidTokenAnswer>
  /**
   * Get claims about the user of a token.
   *
   * Send a user token with the scope `openid` as `Authorization: Bearer <token>`. Requests with a valid token count against the rate limit of the client, others against that of the IP address.
   *
   * Token: none.
   *
   * `GET /oauth2/userinfo`
   */
  readonly getUserInfo: Method<GetUserInfoInput, GetUserInfoAnswer>
}

/** The operations under `playback`. */
export interface PlaybackMethods {
  /**
   * Start a playback session, whose heartbeats count a viewer.
   *
   * For players of streams whose media server does not count viewers, such as HLS behind a cache. Give either `login`, for a live stream, or `video_id`. Sessions of videos are accepted and not counted.
   *
   * Token: none.
   *
   * `POST /playback/session`
   */
  readonly createPlaybackSession: RowsMethod<CreatePlaybackSessionInput, CreatePlaybackSessionAnswer, CreatePlaybackSessionAnswer['data'][number]>
  /**
   * Report that a playback session is still watching.
   *
   * Send one immediately after the session starts, then every 30 s. A session without a heartbeat for 75 s is no longer counted. After a 401, start a new session.
   *
   * Token: none.
   *
   * `POST /playback/heartbeat`
   */
  readonly sendHeartbeat: Method<SendHeartbeatInput, undefined>
  /**
   * List live streams, the latest start first.
   *
   * For pages that show who has just gone live. GetStreams lists all streams.
   *
   * Token: none.
   *
   * `GET /playback/latest`
   */
  readonly getLatestStreams: RowsMethod<GetLatestStreamsInput, GetLatestStreamsAnswer, Stream>
}

/** The operations under `control`. */
export interface ControlMethods {
  /**
   * Create a user with a new id.
   *
   * Token: an operator token.
   *
   * `POST /control/users`
   */
  readonly createUser: RowsMethod<CreateUserInput, CreateUserAnswer, User>
  /**
   * Delete a user with channel, stream, videos, follows and tokens; entitlements are kept for their organizations.
   *
   * Token: an operator token.
   *
   * `DELETE /control/users/{user_id}`
   */
  readonly deleteUser: Method<DeleteUserInput, undefined>
  /**
   * Get a user.
   *
   * Token: an operator token.
   *
   * `GET /control/users/{user_id}`
   */
  readonly getUser: RowsMethod<GetUserInput, GetUserAnswer, User>
  /**
   * List users, ordered by id, or find one by login.
   *
   * Token: an operator token.
   *
   * `GET /control/users`
   */
  readonly listUsers: ListMethod<ListUsersInput, ListUsersAnswer, User>
  /**
   * Create or update the user with this id.
   *
   * The login is required for a new user. Omitted fields keep their value.
   *
   * Token: an operator token.
   *
   * `PUT /control/users/{user_id}`
   */
  readonly putUser: RowsMethod<PutUserInput, PutUserAnswer, User>
  /**
   * Create an organization with a new id.
   *
   * Token: an operator token.
   *
   * `POST /control/organizations`
   */
  readonly createOrganization: RowsMethod<CreateOrganizationInput, CreateOrganizationAnswer, Organization>
  /**
   * Remove a member from the organization.
   *
   * Token: an operator token.
   *
   * `DELETE /control/organizations/{organization_id}/members/{user_id}`
   */
  readonly deleteMember: Method<DeleteMemberInput, undefined>
  /**
   * Delete an organization that owns nothing.
   *
   * Token: an operator token.
   *
   * `DELETE /control/organizations/{organization_id}`
   */
  readonly deleteOrganization: Method<DeleteOrganizationInput, undefined>
  /**
   * Get an organization.
   *
   * Token: an operator token.
   *
   * `GET /control/organizations/{organization_id}`
   */
  readonly getOrganization: RowsMethod<GetOrganizationInput, GetOrganizationAnswer, Organization>
  /**
   * List the members of the organization.
   *
   * Token: an operator token.
   *
   * `GET /control/organizations/{organization_id}/members`
   */
  readonly listMembers: ListMethod<ListMembersInput, ListMembersAnswer, User>
  /**
   * List organizations, ordered by id.
   *
   * Token: an operator token.
   *
   * `GET /control/organizations`
   */
  readonly listOrganizations: ListMethod<ListOrganizationsInput, ListOrganizationsAnswer, Organization>
  /**
   * Make a user a member of the organization.
   *
   * Token: an operator token.
   *
   * `PUT /control/organizations/{organization_id}/members/{user_id}`
   */
  readonly putMember: Method<PutMemberInput, undefined>
  /**
   * Create or update the organization with this id.
   *
   * Token: an operator token.
   *
   * `PUT /control/organizations/{organization_id}`
   */
  readonly putOrganization: RowsMethod<PutOrganizationInput, PutOrganizationAnswer, Organization>
  /**
   * Create a game with a new id.
   *
   * Token: an operator token.
   *
   * `POST /control/games`
   */
  readonly createGame: RowsMethod<CreateGameInput, CreateGameAnswer, Game>
  /**
   * Delete a game that has neither benefits nor entitlements, and remove it from channels.
   *
   * Token: an operator token.
   *
   * `DELETE /control/games/{game_id}`
   */
  readonly deleteGame: Method<DeleteGameInput, undefined>
  /**
   * Get a game.
   *
   * Token: an operator token.
   *
   * `GET /control/games/{game_id}`
   */
  readonly getGame: RowsMethod<GetGameInput, GetGameAnswer, Game>
  /**
   * List games, ordered by id.
   *
   * Token: an operator token.
   *
   * `GET /control/games`
   */
  readonly listGames: ListMethod<ListGamesInput, ListGamesAnswer, Game>
  /**
   * Create or update the game with this id.
   *
   * Token: an operator token.
   *
   * `PUT /control/games/{game_id}`
   */
  readonly putGame: RowsMethod<PutGameInput, PutGameAnswer, Game>
  /**
   * Create a benefit with a new id.
   *
   * Token: an operator token.
   *
   * `POST /control/benefits`
   */
  readonly createBenefit: RowsMethod<CreateBenefitInput, CreateBenefitAnswer, Benefit>
  /**
   * Delete a benefit that has no entitlements.
   *
   * Token: an operator token.
   *
   * `DELETE /control/benefits/{benefit_id}`
   */
  readonly deleteBenefit: Method<DeleteBenefitInput, undefined>
  /**
   * Get a benefit.
   *
   * Token: an operator token.
   *
   * `GET /control/benefits/{benefit_id}`
   */
  readonly getBenefit: RowsMethod<GetBenefitInput, GetBenefitAnswer, Benefit>
  /**
   * List benefits, ordered by id.
   *
   * Token: an operator token.
   *
   * `GET /control/benefits`
   */
  readonly listBenefits: ListMethod<ListBenefitsInput, ListBenefitsAnswer, Benefit>
  /**
   * Create or update the benefit with this id.
   *
   * The organization of an existing benefit cannot change.
   *
   * Token: an operator token.
   *
   * `PUT /control/benefits/{benefit_id}`
   */
  readonly putBenefit: RowsMethod<PutBenefitInput, PutBenefitAnswer, Benefit>
  /**
   * Register a client; only this answer contains the secret.
   *
   * Token: an operator token.
   *
   * `POST /control/clients`
   */
  readonly createClient: RowsMethod<CreateClientInput, CreateClientAnswer, RegisteredClientWithSecret>
  /**
   * Delete a client and revoke its tokens immediately.
   *
   * Token: an operator token.
   *
   * `DELETE /control/clients/{client_id}`
   */
  readonly deleteClient: Method<DeleteClientInput, undefined>
  /**
   * Get a client without its secret.
   *
   * Token: an operator token.
   *
   * `GET /control/clients/{client_id}`
   */
  readonly getClient: RowsMethod<GetClientInput, GetClientAnswer, RegisteredClient>
  /**
   * List clients, ordered by id.
   *
   * Token: an operator token.
   *
   * `GET /control/clients`
   */
  readonly listClients: ListMethod<ListClientsInput, ListClientsAnswer, RegisteredClient>
  /**
   * Update a client; omitted fields keep their value.
   *
   * A client that becomes public loses its secret. A client that becomes confidential has no secret until RotateClientSecret.
   *
   * Token: an operator token.
   *
   * `PATCH /control/clients/{client_id}`
   */
  readonly patchClient: RowsMethod<PatchClientInput, PatchClientAnswer, RegisteredClient>
  /**
   * Replace the secret of a confidential client; the old one becomes invalid immediately.
   *
   * Token: an operator token.
   *
   * `POST /control/clients/{client_id}/rotate-secret`
   */
  readonly rotateClientSecret: RowsMethod<RotateClientSecretInput, RotateClientSecretAnswer, RegisteredClientWithSecret>
  /**
   * Revoke an access or refresh token.
   *
   * Token: an operator token.
   *
   * `DELETE /control/tokens`
   */
  readonly endToken: Method<EndTokenInput, undefined>
  /**
   * Issue a token: a user token with `user_id`, else an app token.
   *
   * Token: an operator token.
   *
   * `POST /control/tokens`
   */
  readonly issueToken: RowsMethod<IssueTokenInput, IssueTokenAnswer, TokenAnswer>
  /**
   * Remove an editor from the channel.
   *
   * Token: an operator token.
   *
   * `DELETE /control/channels/{user_id}/editors/{editor_id}`
   */
  readonly deleteEditor: Method<DeleteEditorInput, undefined>
  /**
   * End the live stream at once, and disconnect its publisher; its video is kept.
   *
   * Token: an operator token.
   *
   * `DELETE /control/channels/{user_id}/stream`
   */
  readonly endStream: Method<EndStreamInput, undefined>
  /**
   * Get a channel.
   *
   * Token: an operator token.
   *
   * `GET /control/channels/{user_id}`
   */
  readonly getChannel: RowsMethod<GetChannelInput, GetChannelAnswer, Channel>
  /**
   * Get the live stream of a channel.
   *
   * Token: an operator token.
   *
   * `GET /control/channels/{user_id}/stream`
   */
  readonly getStream: RowsMethod<GetStreamInput, GetStreamAnswer, Stream>
  /**
   * Disconnect the publisher of a channel; its stream ends if none returns within the grace period.
   *
   * The publisher is disconnected soon after the answer, usually within a second, by the embedded media server or through the API of another one. An encoder may reconnect: rotate the stream key first to keep it out.
   *
   * Token: an operator token.
   *
   * `DELETE /control/channels/{user_id}/publisher`
   */
  readonly kickPublisher: Method<KickPublisherInput, undefined>
  /**
   * List the editors of the channel.
   *
   * Token: an operator token.
   *
   * `GET /control/channels/{user_id}/editors`
   */
  readonly listEditors: ListMethod<ListEditorsInput, ListEditorsAnswer, User>
  /**
   * List all live streams, ordered by channel.
   *
   * Token: an operator token.
   *
   * `GET /control/streams`
   */
  readonly listStreams: ListMethod<ListStreamsInput, ListStreamsAnswer, Stream>
  /**
   * Update a channel; omitted fields keep their value. A live stream shows the change immediately.
   *
   * Token: an operator token.
   *
   * `PATCH /control/channels/{user_id}`
   */
  readonly patchChannel: RowsMethod<PatchChannelInput, PatchChannelAnswer, Channel>
  /**
   * Make a user an editor of the channel.
   *
   * A channel has at most 1,000 editors. Of an existing editor only the time changes, if one is given.
   *
   * Token: an operator token.
   *
   * `PUT /control/channels/{user_id}/editors/{editor_id}`
   */
  readonly putEditor: Method<PutEditorInput, undefined>
  /**
   * Replace the stream key; the old key stays valid for the grace period. A running broadcast is not interrupted.
   *
   * Token: an operator token.
   *
   * `POST /control/channels/{user_id}/stream-key/rotate`
   */
  readonly rotateStreamKey: RowsMethod<RotateStreamKeyInput, RotateStreamKeyAnswer, StreamKey>
  /**
   * Start the stream of a channel. If the channel is live already, the current stream is returned.
   *
   * Token: an operator token.
   *
   * `PUT /control/channels/{user_id}/stream`
   */
  readonly startStream: RowsMethod<StartStreamInput, StartStreamAnswer, Stream>
  /**
   * Add an extra stream key to a channel, for a guest or a second encoder.
   *
   * Token: an operator token.
   *
   * `POST /control/channels/{user_id}/stream-keys`
   */
  readonly createStreamKey: RowsMethod<CreateStreamKeyInput, CreateStreamKeyAnswer, CreateStreamKeyAnswer['data'][number]>
  /**
   * Delete an extra stream key. A running broadcast is not interrupted.
   *
   * Token: an operator token.
   *
   * `DELETE /control/channels/{user_id}/stream-keys/{name}`
   */
  readonly deleteStreamKey: Method<DeleteStreamKeyInput, undefined>
  /**
   * List the extra stream keys of a channel by name, without the keys.
   *
   * Expired keys are listed until they are swept.
   *
   * Token: an operator token.
   *
   * `GET /control/channels/{user_id}/stream-keys`
   */
  readonly listStreamKeys: ListMethod<ListStreamKeysInput, ListStreamKeysAnswer, ExtraStreamKey>
  /**
   * Get the stream key of a channel, or one of its extra keys.
   *
   * Token: an operator token.
   *
   * `GET /control/channels/{user_id}/stream-key`
   */
  readonly readStreamKey: RowsMethod<ReadStreamKeyInput, ReadStreamKeyAnswer, StreamKey>
  /**
   * Remove a follow.
   *
   * Token: an operator token.
   *
   * `DELETE /control/users/{user_id}/follows/{broadcaster_id}`
   */
  readonly deleteFollow: Method<DeleteFollowInput, undefined>
  /**
   * List the channels that a user follows.
   *
   * Token: an operator token.
   *
   * `GET /control/users/{user_id}/follows`
   */
  readonly listFollows: ListMethod<ListFollowsInput, ListFollowsAnswer, User>
  /**
   * Make a user follow a channel.
   *
   * Of an existing follow only the time changes, if one is given.
   *
   * Token: an operator token.
   *
   * `PUT /control/users/{user_id}/follows/{broadcaster_id}`
   */
  readonly putFollow: Method<PutFollowInput, undefined>
  /**
   * Add up to 10,000 follows, all or none.
   *
   * Token: an operator token.
   *
   * `POST /control/follows`
   */
  readonly putFollows: Method<PutFollowsInput, undefined>
  /**
   * Set the viewer counts of up to 10,000 channels; channels that are not live are ignored.
   *
   * Token: an operator token.
   *
   * `POST /control/viewers`
   */
  readonly reportViewers: Method<ReportViewersInput, undefined>
  /**
   * Get an entitlement of any organization.
   *
   * Token: an operator token.
   *
   * `GET /control/entitlements/{entitlement_id}`
   */
  readonly getEntitlement: RowsMethod<GetEntitlementInput, GetEntitlementAnswer, Entitlement>
  /**
   * Get the history of an entitlement, oldest first: the grant, then each change of status and who made it.
   *
   * Changes come from the audit log; changes that were made before it existed are missing.
   *
   * Token: an operator token.
   *
   * `GET /control/entitlements/{entitlement_id}/history`
   */
  readonly getEntitlementHistory: ListMethod<GetEntitlementHistoryInput, GetEntitlementHistoryAnswer, EntitlementTransition>
  /**
   * Grant 1 to 1000 entitlements, all or none; they start as CLAIMED and are returned in the order given.
   *
   * A grant with an existing id and the same content succeeds and changes nothing.
   *
   * Token: an operator token.
   *
   * `POST /control/entitlements`
   */
  readonly grantEntitlements: RowsMethod<GrantEntitlementsInput, GrantEntitlementsAnswer, Entitlement>
  /**
   * List entitlements of all organizations, newest first.
   *
   * Token: an operator token.
   *
   * `GET /control/entitlements`
   */
  readonly listEntitlements: ListMethod<ListEntitlementsInput, ListEntitlementsAnswer, Entitlement>
  /**
   * Delete a video with its markers; a stream that is still live continues without one.
   *
   * Token: an operator token.
   *
   * `DELETE /control/videos/{video_id}`
   */
  readonly deleteVideo: Method<DeleteVideoInput, undefined>
  /**
   * Get a video.
   *
   * Token: an operator token.
   *
   * `GET /control/videos/{video_id}`
   */
  readonly getVideo: RowsMethod<GetVideoInput, GetVideoAnswer, Video>
  /**
   * List videos, newest first.
   *
   * Token: an operator token.
   *
   * `GET /control/videos`
   */
  readonly listVideos: ListMethod<ListVideosInput, ListVideosAnswer, Video>
  /**
   * Update a video; omitted fields keep their value. The title of a live video follows its channel.
   *
   * Token: an operator token.
   *
   * `PATCH /control/videos/{video_id}`
   */
  readonly patchVideo: RowsMethod<PatchVideoInput, PatchVideoAnswer, Video>
  /**
   * Export all markers of a video as a file for an editor, a player or a video site.
   *
   * The same files as those of ExportStreamMarkers. See docs/markers.md.
   *
   * Token: an operator token.
   *
   * `GET /control/videos/{video_id}/markers/export`
   */
  readonly exportVideoMarkers: Method<ExportVideoMarkersInput, string>
  /**
   * Remove a media server; its secret becomes invalid, and its broadcasts end.
   *
   * Token: an operator token.
   *
   * `DELETE /control/media-servers/{name}`
   */
  readonly deleteMediaServer: Method<DeleteMediaServerInput, undefined>
  /**
   * Get a media server without its secret.
   *
   * Token: an operator token.
   *
   * `GET /control/media-servers/{name}`
   */
  readonly getMediaServer: RowsMethod<GetMediaServerInput, GetMediaServerAnswer, MediaServer>
  /**
   * List the media servers by name, without their secrets.
   *
   * Token: an operator token.
   *
   * `GET /control/media-servers`
   */
  readonly listMediaServers: ListMethod<ListMediaServersInput, ListMediaServersAnswer, MediaServer>
  /**
   * Create or update a media server; only the answer that creates it contains the secret.
   *
   * The adapter of an existing media server cannot change.
   *
   * Token: an operator token.
   *
   * `PUT /control/media-servers/{name}`
   */
  readonly putMediaServer: RowsMethod<PutMediaServerInput, PutMediaServerAnswer, MediaServerWithSecret>
  /**
   * Replace the secret of a media server; the old one stays valid for the grace period.
   *
   * Token: an operator token.
   *
   * `POST /control/media-servers/{name}/rotate-secret`
   */
  readonly rotateMediaServerSecret: RowsMethod<RotateMediaServerSecretInput, RotateMediaServerSecretAnswer, MediaServerWithSecret>
  /**
   * Delete an event subscription of any application. Nothing more is sent.
   *
   * Token: an operator token.
   *
   * `DELETE /control/event-subscriptions/{id}`
   */
  readonly deleteEventSubscription: Method<DeleteEventSubscriptionInput, undefined>
  /**
   * List messages to subscribers and what became of them, newest first.
   *
   * Token: an operator token.
   *
   * `GET /control/deliveries`
   */
  readonly listDeliveries: ListMethod<ListDeliveriesInput, ListDeliveriesAnswer, EventDelivery>
  /**
   * List event subscriptions of all applications, the oldest first.
   *
   * Token: an operator token.
   *
   * `GET /control/event-subscriptions`
   */
  readonly listEventSubscriptions: ListMethod<ListEventSubscriptionsInput, ListEventSubscriptionsAnswer, OperatorSubscription>
  /**
   * List events that a subscription matched, newest first.
   *
   * Token: an operator token.
   *
   * `GET /control/events`
   */
  readonly listEvents: ListMethod<ListEventsInput, ListEventsAnswer, StoredEvent>
  /**
   * Send all notifications since a time again, with the same ids.
   *
   * To subscriptions that are enabled. Receivers recognize messages that they have by their id.
   *
   * Token: an operator token.
   *
   * `POST /control/events/replay`
   */
  readonly replayEvents: RowsMethod<ReplayEventsInput, ReplayEventsAnswer, ReplayEventsAnswer['data'][number]>
  /**
   * Send a message again, with the same id, whatever became of it.
   *
   * Token: an operator token.
   *
   * `POST /control/deliveries/{id}/resend`
   */
  readonly resendDelivery: RowsMethod<ResendDeliveryInput, ResendDeliveryAnswer, EventDelivery>
  /**
   * Create a named operator token; only this answer contains the token.
   *
   * Token: an operator token.
   *
   * `POST /control/operators`
   */
  readonly createOperator: RowsMethod<CreateOperatorInput, CreateOperatorAnswer, OperatorTokenWithSecret>
  /**
   * Revoke a named operator token immediately.
   *
   * Token: an operator token.
   *
   * `DELETE /control/operators/{name}`
   */
  readonly deleteOperator: Method<DeleteOperatorInput, undefined>
  /**
   * List the named operator tokens by name, without the tokens.
   *
   * Token: an operator token.
   *
   * `GET /control/operators`
   */
  readonly listOperators: ListMethod<ListOperatorsInput, ListOperatorsAnswer, OperatorToken>
  /**
   * List changes and who made them, newest first.
   *
   * Every change by an operator and every change of a fulfilment status is recorded. A call that changes the status of several entitlements is one entry that lists their ids. Calls that change nothing are not recorded.
   *
   * Token: an operator token.
   *
   * `GET /control/audit`
   */
  readonly listAudit: ListMethod<ListAuditInput, ListAuditAnswer, AuditEntry>
  /**
   * Advance the clock of the demo, set it to a later time, stop it, or let it run.
   *
   * At least one field is required. The clock never moves back: a reset returns to an earlier time.
   *
   * Token: an operator token.
   *
   * `POST /control/clock`
   */
  readonly advanceClock: RowsMethod<AdvanceClockInput, AdvanceClockAnswer, AdvanceClockAnswer['data'][number]>
  /**
   * Remove all planned faults.
   *
   * Token: an operator token.
   *
   * `DELETE /control/faults`
   */
  readonly clearFaults: Method<ClearFaultsInput, undefined>
  /**
   * Clear the list of requests.
   *
   * Token: an operator token.
   *
   * `DELETE /control/requests`
   */
  readonly clearRequests: Method<ClearRequestsInput, undefined>
  /**
   * List the planned faults in the order in which they apply, with the remaining number of calls.
   *
   * Token: an operator token.
   *
   * `GET /control/faults`
   */
  readonly listFaults: RowsMethod<ListFaultsInput, ListFaultsAnswer, Fault>
  /**
   * List the requests that the demo has answered, oldest first, or wait for one.
   *
   * Those of the control API are left out. The last 1000 are kept, up to 16 KiB of each body; tokens, secrets and stream keys are masked.
   *
   * Token: an operator token.
   *
   * `GET /control/requests`
   */
  readonly listRequests: RowsMethod<ListRequestsInput, ListRequestsAnswer, RecordedRequest>
  /**
   * Make calls of an operation fail with the chosen outcome.
   *
   * A fault applies to calls that pass authorization and have valid input. At most 1000 faults are planned at a time.
   *
   * Token: an operator token.
   *
   * `POST /control/faults`
   */
  readonly planFault: RowsMethod<PlanFaultInput, PlanFaultAnswer, Fault>
  /**
   * Get the time of the demo.
   *
   * Token: an operator token.
   *
   * `GET /control/clock`
   */
  readonly readClock: RowsMethod<ReadClockInput, ReadClockAnswer, ReadClockAnswer['data'][number]>
  /**
   * Get the world of the demo: URLs, ids, tokens, and the entries of the scenario by name.
   *
   * Token: an operator token.
   *
   * `GET /control/world`
   */
  readonly readWorld: RowsMethod<ReadWorldInput, ReadWorldAnswer, ReadWorldAnswer['data'][number]>
  /**
   * Reset the demo to its snapshot, or to its initial state: the same ids, tokens, clock and planned faults.
   *
   * The list of requests is cleared, too.
   *
   * Token: an operator token.
   *
   * `POST /control/reset`
   */
  readonly resetWorld: Method<ResetWorldInput, undefined>
  /**
   * Save the state of the demo as the one that a reset returns to: its data, clock and planned faults.
   *
   * A second snapshot replaces the first.
   *
   * Token: an operator token.
   *
   * `POST /control/snapshot`
   */
  readonly saveSnapshot: Method<SaveSnapshotInput, undefined>
}
