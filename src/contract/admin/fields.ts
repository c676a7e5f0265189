/** Fields by their names, which mean the same in every resource. A field without an entry is text under its name in words. */

/**
 * What a value is. `code`: a number that is not a quantity. `flag`: a yes that stands out. `former-status`: a status that no
 * longer holds, which only a list of the command line highlights. Times are recognised by their form, too.
 */
type FieldKind =
  | 'number'
  | 'code'
  | 'duration'
  | 'time'
  | 'flag'
  | 'status'
  | 'former-status'
  | 'subject'
  | 'actor'

export interface FieldDescription {
  /** As a heading and as a label. */
  readonly label?: string
  /** As a heading on a terminal, where it has to be short; default: the label. */
  readonly heading?: string
  /** In the help of a command, where the contract has no description or one for programmers. */
  readonly meaning?: string
  /** As a flag or an argument; default: the name. */
  readonly flag?: string
  readonly kind?: FieldKind
  /** The value is an id in this table. */
  readonly refersTo?: string
  /** The field of the same row with the name behind this id. */
  readonly nameIn?: string
  /** The value is a name, and this field of the same row is its id. */
  readonly idIn?: string
  /** Shown beside the value, if there is one: it is an exception that must be seen. */
  readonly badge?: string
  /** What a filter takes, by example. */
  readonly placeholder?: string
  /** On a narrow terminal, texts are cut to this width at least. */
  readonly cutTo?: number
  /** On a narrow terminal, columns are left out in this order, the highest first. */
  readonly omitRank?: number
}

const TIME = '2026-03-01T12:00:00Z'

const FIELDS: Readonly<Record<string, FieldDescription>> = {
  actor: { kind: 'actor', cutTo: 12, placeholder: 'operator/night-shift' },
  advance_seconds: { meaning: 'seconds to move the clock forward' },
  answer: { heading: 'TEXT', cutTo: 12, omitRank: 5 },
  answer_status: { label: 'HTTP status', heading: 'ANSWER', kind: 'code', omitRank: 2 },
  account_link: {
    label: 'Account link',
    heading: 'LINK',
    meaning: 'when viewers have to link their account',
  },
  adapter: { meaning: 'kind of media server' },
  add: { label: 'Minutes', meaning: 'minutes to add' },
  api_url: { label: 'API URL', heading: 'API', cutTo: 16 },
  at: { label: 'Time', kind: 'time' },
  attempts: { kind: 'number', omitRank: 3 },
  auto_claim: { heading: 'AUTO', meaning: 'claim drops for the viewers who reach them' },
  benefit_ids: { label: 'Benefits', refersTo: 'benefits' },
  benefit_id: { meaning: 'id of a benefit', refersTo: 'benefits', cutTo: 12 },
  broadcaster_id: { refersTo: 'users' },
  broadcaster_type: {
    label: 'Type',
    heading: 'BROADCASTER TYPE',
    meaning: 'rank of the broadcaster; "" for none',
  },
  campaign_id: { meaning: 'id of a campaign', refersTo: 'campaigns', cutTo: 12 },
  channel_id: { label: 'Channel', refersTo: 'users' },
  channel_ids: { label: 'Listed channels', heading: 'CHANNELS', refersTo: 'users' },
  channels: { label: 'Channels that count', heading: 'CHANNELS' },
  claim_seconds: {
    label: 'Seconds to claim',
    heading: 'CLAIM',
    meaning: 'seconds in which drops can be claimed after the end',
    kind: 'number',
  },
  client_id: { meaning: 'id of a client', refersTo: 'clients', cutTo: 12, omitRank: 2 },
  content_classification_labels: { meaning: 'label of the content' },
  cost: { kind: 'number', omitRank: 3 },
  created_at: { label: 'Created', kind: 'time', omitRank: 1 },
  counts_watching: {
    label: 'Counts watching',
    heading: 'COUNTS',
    meaning: 'let viewers earn drops in playback sessions of this client',
    omitRank: 6,
  },
  delay: {
    label: 'Delay in seconds',
    heading: 'DELAY',
    meaning: 'delay of the broadcast in seconds',
    kind: 'number',
  },
  description: { meaning: 'text shown to others' },
  device_flow: {
    heading: 'DEVICE',
    meaning: 'allow the device flow; default: on for public clients, off for confidential ones',
    omitRank: 6,
  },
  display_name: { label: 'Name', meaning: 'name as shown to others', cutTo: 10 },
  due_at: { label: 'Due', heading: 'DUE AT' },
  duration_seconds: { label: 'Duration', heading: 'LENGTH', kind: 'duration' },
  editor_id: { label: 'Editor', refersTo: 'users' },
  email: { meaning: 'email address, shown only to the user and to clients with the scope user:read:email' },
  ends_at: { label: 'Ends', kind: 'time', meaning: `when minutes stop to count, such as ${TIME}` },
  entitlement_id: { meaning: 'id of an entitlement' },
  event_id: { meaning: 'id of an event' },
  expires_in: {
    label: 'Lifetime in seconds',
    heading: 'EXPIRES IN',
    meaning: 'lifetime of the token in seconds',
  },
  finished_at: { label: 'Finished', kind: 'time' },
  followed_at: { meaning: `time of the follow, such as ${TIME}; default: now` },
  for_seconds: { meaning: 'seconds to watch; default: until stopped' },
  format: { meaning: 'format of the file' },
  from: { kind: 'former-status' },
  fulfillment_status: { label: 'Status', kind: 'status' },
  game_id: { meaning: 'id of a game', refersTo: 'games', nameIn: 'game_name', cutTo: 10, omitRank: 2 },
  game_name: { heading: 'GAME', idIn: 'game_id', cutTo: 10 },
  id: { label: 'ID' },
  igdb_id: { label: 'IGDB ID', meaning: 'id of the game at IGDB, or "" if unknown' },
  implicit_grant: {
    heading: 'IMPLICIT',
    meaning: 'allow the implicit grant (response_type=token)',
    omitRank: 6,
  },
  is_branded_content: { meaning: 'shows branded content' },
  is_live: { label: 'Live', kind: 'flag' },
  is_mature: { label: 'For adults only', heading: 'IS MATURE', meaning: 'for adults only' },
  kind: { meaning: 'confidential if the client can keep a secret, otherwise public', omitRank: 4 },
  language: { meaning: 'language of the broadcast: an ISO 639-1 code, or "other"', placeholder: 'en' },
  last_updated: { label: 'Updated', heading: 'LAST UPDATED' },
  link_client_id: {
    label: 'Linked client',
    meaning: 'id of the client that viewers authorize to link their account',
    refersTo: 'clients',
    cutTo: 12,
  },
  link_url: { label: 'Link URL', meaning: 'page of the studio where viewers link their account' },
  links: { meaning: 'link of the profile: a label and an https URL, separated by a space' },
  login: { label: 'Login', meaning: 'name to log in with', cutTo: 10, placeholder: 'Login' },
  marker_count: { label: 'Markers', heading: 'MARKER COUNT', kind: 'number' },
  milliseconds: { label: 'Milliseconds', kind: 'number' },
  name: { cutTo: 12 },
  occurred_at: { label: 'Occurred', kind: 'time' },
  operation: { placeholder: 'DeleteUser' },
  organization_id: { flag: 'org', meaning: 'id of an organization', refersTo: 'organizations', cutTo: 12 },
  outcome: { meaning: 'how the calls fail' },
  owner_user_id: { label: 'Owner', refersTo: 'users', cutTo: 8, omitRank: 3 },
  playback_url: { label: 'Playback URL', heading: 'PLAYBACK', cutTo: 16, omitRank: 4 },
  redirect_uris: { label: 'Redirect URIs', meaning: 'redirect URI', cutTo: 16, omitRank: 5 },
  reset_url: { label: 'Link', heading: 'LINK' },
  required_minutes: { label: 'Minutes', kind: 'number' },
  running: { meaning: 'let the clock run' },
  scopes: { meaning: 'scope of the token' },
  second_publisher: { meaning: 'what happens if a second publisher comes while one is live' },
  seq: { label: 'No.', heading: 'SEQ', kind: 'code' },
  since: { placeholder: TIME },
  phase: { kind: 'status' },
  starts_at: { label: 'Starts', kind: 'time', meaning: `when minutes begin to count, such as ${TIME}` },
  started_at: { label: 'Started', kind: 'time' },
  state: { kind: 'status' },
  status: { kind: 'status', cutTo: 9 },
  stopped_at: { label: 'Stopped', kind: 'time' },
  subject: { kind: 'subject', cutTo: 9, placeholder: 'user/141981764' },
  subscription_id: { meaning: 'id of a subscription; default: all' },
  suspended_at: { label: 'Suspended', kind: 'time', badge: 'suspended', omitRank: 1 },
  suspension_reason: { label: 'Reason for the suspension', heading: 'REASON' },
  reason: { meaning: 'why, for other operators' },
  tags: { meaning: 'tag of the channel' },
  times: { label: 'Calls', heading: 'TIMES', kind: 'number' },
  timestamp: { label: 'Granted', kind: 'time', omitRank: 1 },
  title: { cutTo: 16 },
  to: { kind: 'status' },
  type: { cutTo: 12 },
  until: { placeholder: TIME },
  user_id: { label: 'User', refersTo: 'users', nameIn: 'user_name', cutTo: 10 },
  user_ids: { refersTo: 'users' },
  user_login: {
    label: 'Channel',
    meaning: 'login of a user',
    idIn: 'user_id',
    cutTo: 10,
    placeholder: 'Login',
  },
  valid_until: { kind: 'time', meaning: `when the key expires, such as ${TIME}; default: never` },
  video_id: { meaning: 'id of a video' },
  view_count: { label: 'Views', meaning: 'number of views', kind: 'number' },
  viewer_count: { label: 'Viewers', meaning: 'number of viewers', kind: 'number' },
  vod_enabled: { label: 'Keep videos', heading: 'VOD ENABLED', meaning: 'keep videos of streams' },
}

const NONE: FieldDescription = {}

export const fieldNamed = (name: string): FieldDescription =>
  Object.hasOwn(FIELDS, name) ? (FIELDS[name] ?? NONE) : NONE

/** The path of the table that the value is an id in. */
export const referencedTable = (name: string): string | undefined => fieldNamed(name).refersTo

const REFERENCED = new Set(Object.values(FIELDS).map(each => each.refersTo))

/** Whether fields refer to this table: its rows have names that people know. */
export const isReferenced = (table: string): boolean => REFERENCED.has(table)

/** Whether the value is the id of a user, for which a login can be given. */
export const isUser = (name: string): boolean => referencedTable(name) === 'users'

/** Where the subjects of the audit log are; the stream, channel and key of a user have the id of that user. */
const SUBJECTS: Readonly<Record<string, string>> = {
  user: 'users',
  channel: 'users',
  stream: 'users',
  stream_key: 'users',
  game: 'games',
  benefit: 'benefits',
  organization: 'organizations',
  client: 'clients',
  entitlement: 'entitlements',
  video: 'videos',
  campaign: 'campaigns',
}

/** The table and the id of a subject such as `user/141981764`. */
export function parseSubject(text: string): { readonly table: string; readonly id: string } | undefined {
  const [kind = '', id = ''] = text.split('/')
  const table = Object.hasOwn(SUBJECTS, kind) ? SUBJECTS[kind] : undefined
  return table === undefined || id === '' ? undefined : { table, id }
}

export type Tone = 'good' | 'warn' | 'bad' | 'neutral'

const TONES: Readonly<Record<string, Tone>> = {
  FULFILLED: 'good',
  active: 'good',
  published: 'good',
  claimable: 'warn',
  upcoming: 'neutral',
  ended: 'neutral',
  draft: 'neutral',
  stopped: 'warn',
  enabled: 'good',
  delivered: 'good',
  ok: 'good',
  CLAIMED: 'warn',
  pending: 'warn',
  webhook_callback_verification_pending: 'warn',
  warning: 'warn',
  failed: 'bad',
  canceled: 'neutral',
  note: 'neutral',
  user_removed: 'neutral',
  version_removed: 'neutral',
}

/** What a person expects of a status; undefined if it is not listed. */
export const statusTone = (status: string): Tone | undefined =>
  Object.hasOwn(TONES, status) ? TONES[status] : undefined

/** The columns of lists of users, which several nouns have. */
export const USER_COLUMNS = ['id', 'login', 'display_name', 'created_at']
