import { controlOperations as control, helixOperations as helix } from '../../contract/index.ts'
import type { Operation } from '../../contract/operation.ts'
import { withFields } from './fields.ts'
import type { Verb, VerbRow } from './verb.ts'

/** The description of each noun. */
export const NOUNS: Readonly<Record<string, string>> = {
  user: 'user accounts',
  org: 'organizations, which own games, benefits and clients',
  'org member': 'members of an organization',
  game: 'games',
  benefit: 'benefits that entitlements grant',
  client: 'OAuth clients',
  token: 'access tokens',
  channel: 'channels of users',
  editor: 'editors of a channel',
  stream: 'live streams',
  key: 'stream keys: the main key of a channel, and extra ones',
  viewer: 'viewer counts of live streams',
  follow: 'followed channels',
  entitlement: 'drops entitlements of users',
  video: 'videos of past streams',
  marker: 'markers of a video',
  media: 'media servers that report their publishers',
  event: 'events that subscriptions matched',
  'event delivery': 'messages to subscribers',
  'event subscription': 'event subscriptions of all applications',
  operator: 'named operator tokens',
  audit: 'the audit log',
  clock: 'the clock of a demo',
  fault: 'injected faults of a demo',
  request: 'requests that a demo has answered',
  world: 'the generated world of a demo',
}

const USER_COLUMNS = ['id', 'login', 'display_name', 'created_at']
const STREAM_COLUMNS = ['user_id', 'user_login', 'game_name', 'viewer_count', 'started_at', 'title']
const STREAM_TERMINAL = ['user_login', 'game_name', 'viewer_count', 'started_at', 'title']
const ENTITLEMENT_COLUMNS = ['id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status', 'timestamp']
const VIDEO_COLUMNS = ['id', 'user_login', 'created_at', 'duration_seconds', 'is_live', 'view_count', 'title']
const REEF = '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1'
const PEARL = '9a5df0a2-3a70-4f3b-9a3e-6f2d1b0c7e55'
const LANTERN = '74c52265-e214-48a6-91b9-23b6014e8041'
const COMPASS = '1f0e8f3b-0c1d-4a52-8a4e-5d5c2b8f9a10'
const CLIENT = 'reefdrops0fulfilment0backend01'
const ENTITLEMENT = 'fb78259e-fb81-4d1b-8333-34a06ffc24c0'
const VIDEO = '1234567890'
const DEMO = '--url http://localhost:8080 --token-file operator-token'

/** The examples are what follows the words. */
const row = (
  words: string,
  operation: Operation,
  examples: readonly string[],
  more: Omit<VerbRow, 'words' | 'operation' | 'examples'> = {},
): VerbRow => ({ words, operation, examples: examples.map(each => `${words} ${each}`.trim()), ...more })

/** One row for each verb. A test fails for an operation of the control API without a row. */
const rows: readonly VerbRow[] = [
  row('user create', control.createUser, ['plucky_jackal', 'quiet_heron --display-name Quiet_Heron'], {
    arguments: ['login'],
    secret: 'password',
  }),
  row(
    'user set',
    control.putUser,
    [
      '141981764 --login lunar_otter --display-name Lunar_Otter',
      '25009227 --login brave_newt',
      'brave_newt --description "Night dives" --broadcaster-type affiliate --email newt@example.com',
      '25009300 --login spare_crab',
    ],
    { secret: 'password' },
  ),
  row('user list', control.listUsers, ['--first 50', '--all --json'], { columns: USER_COLUMNS }),
  row('user show', control.getUser, ['141981764', 'lunar_otter --json']),
  row('user delete', control.deleteUser, ['spare_crab --yes']),

  row('org create', control.createOrganization, ['"Kelp Games"'], { arguments: ['name'] }),
  row('org set', control.putOrganization, [
    `${REEF} --name "Reef Interactive"`,
    `${PEARL} --name "Pearl Works"`,
  ]),
  row('org list', control.listOrganizations, ['']),
  row('org show', control.getOrganization, [REEF]),
  row('org delete', control.deleteOrganization, [`${PEARL} --yes`]),
  row('org member add', control.putMember, [`${REEF} lunar_otter`]),
  row('org member list', control.listMembers, [REEF], { columns: USER_COLUMNS }),
  row('org member remove', control.deleteMember, [`${REEF} lunar_otter`], { harmless: true }),

  row('game create', control.createGame, [`"Kelp Run" --org ${REEF}`], { arguments: ['name'] }),
  row('game set', control.putGame, [
    `33214 --name Tidefall --org ${REEF} --igdb 90210`,
    '33215 --name "Sand Castles" --no-org',
  ]),
  row('game list', control.listGames, [`--org ${REEF}`], { columns: ['id', 'name', 'organization_id'] }),
  row('game show', control.getGame, ['33214']),
  row('game delete', control.deleteGame, ['33215 --yes']),

  row('benefit create', control.createBenefit, [`"Pearl diver" --org ${REEF} --game 33214`], {
    arguments: ['name'],
  }),
  row('benefit set', control.putBenefit, [
    `${LANTERN} --name "Coral lantern" --org ${REEF} --game 33214`,
    `${COMPASS} --name "Brass compass" --org ${REEF} --no-game`,
  ]),
  row('benefit list', control.listBenefits, [`--org ${REEF}`], {
    terminalColumns: ['id', 'name', 'game_id', 'organization_id'],
  }),
  row('benefit show', control.getBenefit, [LANTERN]),
  row('benefit delete', control.deleteBenefit, [`${COMPASS} --yes`]),

  row(
    'client create',
    control.createClient,
    [
      `"Reef drops back end" --org ${REEF}`,
      '"Reef overlay" --kind public --redirect-uri http://localhost:3000/callback',
    ],
    { arguments: ['name'] },
  ),
  row('client list', control.listClients, [`--org ${REEF}`], {
    terminalColumns: ['id', 'name', 'kind', 'organization_id', 'owner_user_id', 'redirect_uris'],
  }),
  row('client show', control.getClient, [CLIENT]),
  row('client edit', control.patchClient, [
    `${CLIENT} --redirect-uri https://reef.example/callback --no-implicit-grant`,
    `${CLIENT} --no-redirect-uri`,
    `${CLIENT} --device-flow`,
  ]),
  row('client rotate-secret', control.rotateClientSecret, [`${CLIENT} --yes`], { asks: true }),
  row('client delete', control.deleteClient, [`${CLIENT} --yes`]),

  row('token create', control.issueToken, [
    `--client ${CLIENT}`,
    `--client ${CLIENT} --user lunar_otter --scope user:read:follows --scope channel:manage:broadcast`,
  ]),
  row('token end', control.endToken, ['--yes < token.txt'], { secret: 'token' }),

  row('channel show', control.getChannel, ['lunar_otter']),
  row('channel edit', control.patchChannel, [
    'lunar_otter --title "First light over the reef" --game 33214 --tag Relaxed --tag English',
    'brave_newt --language de --is-mature --no-vod-enabled --no-game --no-tag',
    'brave_newt --delay 30 --content-classification-label Gambling --is-branded-content',
  ]),

  row('editor add', control.putEditor, [
    'lunar_otter brave_newt',
    'lunar_otter brave_newt --created-at 2026-02-20T08:15:00Z',
  ]),
  row('editor list', control.listEditors, ['lunar_otter'], { columns: USER_COLUMNS }),
  row('editor remove', control.deleteEditor, ['lunar_otter brave_newt'], { harmless: true }),

  row('stream start', control.startStream, ['lunar_otter --viewer-count 478', 'brave_newt']),
  row('stream show', control.getStream, ['lunar_otter']),
  row('stream list', control.listStreams, ['', '--game 33214 --all --json'], {
    columns: STREAM_COLUMNS,
    terminalColumns: STREAM_TERMINAL,
  }),
  row('stream top', helix.getStreams, ['', '--game 33214 --language en --all --json'], {
    columns: STREAM_COLUMNS,
    terminalColumns: STREAM_TERMINAL,
  }),
  row('stream end', control.endStream, ['brave_newt'], { harmless: true }),

  row('stream kick', control.kickPublisher, ['lunar_otter'], { harmless: true }),

  row(
    'key add',
    control.createStreamKey,
    ['lunar_otter guest --valid-until 2099-03-08T12:00:00Z', 'lunar_otter second-encoder'],
    { arguments: ['name'] },
  ),
  row('key list', control.listStreamKeys, ['lunar_otter']),
  row('key show', control.readStreamKey, ['lunar_otter', 'lunar_otter --name guest'], {
    reveals: 'anyone who sees the key can broadcast to this channel',
  }),
  row('key remove', control.deleteStreamKey, ['lunar_otter second-encoder --yes']),
  row('key rotate', control.rotateStreamKey, ['lunar_otter --grace-seconds 3600', 'brave_newt --yes'], {
    asksWithout: 'grace_seconds',
  }),

  row('viewer set', control.reportViewers, ['lunar_otter=1204 brave_newt=7', '--body viewers.json'], {
    bulk: 'counts',
  }),

  row('follow add', control.putFollow, [
    'brave_newt lunar_otter',
    'brave_newt lunar_otter --followed-at 2026-02-14T18:00:05Z',
  ]),
  row(
    'follow add-many',
    control.putFollows,
    ['--body follows.json', '--user 25009300 --broadcaster lunar_otter'],
    { bulk: 'follows' },
  ),
  row('follow list', control.listFollows, ['brave_newt'], { columns: USER_COLUMNS }),
  row('follow remove', control.deleteFollow, ['brave_newt lunar_otter'], { harmless: true }),

  row(
    'entitlement grant',
    control.grantEntitlements,
    [`--user brave_newt --benefit ${LANTERN} --game 33214 --id ${ENTITLEMENT}`, '--body grants.json --json'],
    { bulk: 'grants' },
  ),
  row(
    'entitlement list',
    control.listEntitlements,
    ['--user brave_newt --fulfillment-status CLAIMED', `--org ${REEF} --all`],
    {
      columns: ENTITLEMENT_COLUMNS,
      terminalColumns: ['id', 'user_id', 'benefit_id', 'game_id', 'fulfillment_status', 'timestamp'],
    },
  ),

  row('entitlement show', control.getEntitlement, [ENTITLEMENT]),
  row('entitlement history', control.getEntitlementHistory, [ENTITLEMENT]),

  row('video list', control.listVideos, ['--user lunar_otter'], { columns: VIDEO_COLUMNS }),
  row('video show', control.getVideo, [VIDEO]),
  row('video edit', control.patchVideo, [`${VIDEO} --description "Night dive, part two" --view-count 1200`]),
  row('video delete', control.deleteVideo, [`${VIDEO} --yes`]),

  row('marker export', control.exportVideoMarkers, [
    `${VIDEO} --format csv`,
    `${VIDEO} --format edl --fps 59.94 --output markers.edl`,
    `${VIDEO} --format youtube`,
  ]),

  row('media set', control.putMediaServer, ['edge-1 --adapter nginx-rtmp --api-url http://127.0.0.1:8088']),
  row('media list', control.listMediaServers, ['']),
  row('media show', control.getMediaServer, ['edge-1']),
  row('media rotate', control.rotateMediaServerSecret, ['edge-1 --grace-seconds 600']),
  row('media remove', control.deleteMediaServer, ['edge-1 --yes']),

  row('event list', control.listEvents, ['--type stream.online'], {
    columns: ['id', 'type', 'subject', 'occurred_at'],
  }),
  row('event replay', control.replayEvents, ['2026-03-01T12:00:00Z'], { arguments: ['since'] }),
  row('event delivery list', control.listDeliveries, ['--status failed'], {
    columns: ['id', 'kind', 'type', 'status', 'attempts', 'created_at', 'answer_status', 'answer'],
  }),
  row('event delivery resend', control.resendDelivery, ['0b1f0a52-8a4e-4d5c-9b8f-9a101f0e8f3b']),
  row('event subscription list', control.listEventSubscriptions, ['--status enabled'], {
    columns: ['id', 'client_id', 'type', 'status', 'cost', 'created_at'],
  }),
  row('event subscription delete', control.deleteEventSubscription, [
    'f1c2a387-161a-49f9-a165-0f21d7a4e1c4 --yes',
  ]),

  row('operator create', control.createOperator, ['night-shift'], { arguments: ['name'] }),
  row('operator list', control.listOperators, ['']),
  row('operator delete', control.deleteOperator, ['night-shift --yes']),

  row(
    'audit list',
    control.listAudit,
    ['', '--operation PutUser --since 2026-03-01T00:00:00Z --all --json'],
    { columns: ['at', 'actor', 'operation', 'subject'] },
  ),

  row('clock set', control.advanceClock, [
    `--advance-seconds 3600 ${DEMO}`,
    `--time 2030-01-01T00:00:00Z ${DEMO}`,
  ]),
  row('clock show', control.readClock, [DEMO]),
  row('fault plan', control.planFault, [
    `--operation GetStreams --outcome unavailable --times 2 ${DEMO}`,
    `--operation GetStreams --outcome connection_reset --skip 2 --where user_id=141981764 ${DEMO}`,
    `--outcome webhook_twice --where type=stream.online ${DEMO}`,
  ]),
  row('fault list', control.listFaults, [DEMO], { columns: ['operation', 'outcome', 'skip', 'times'] }),
  row('fault clear', control.clearFaults, [DEMO], { harmless: true }),
  row('request list', control.listRequests, [`--operation GetStreams ${DEMO}`], {
    columns: ['number', 'at', 'operation', 'method', 'path', 'status', 'fault'],
  }),
  row('request clear', control.clearRequests, [DEMO], { harmless: true }),
  row('world show', control.readWorld, [`--json ${DEMO}`]),
  row('world snapshot', control.saveSnapshot, [DEMO], { harmless: true }),
  row('world reset', control.resetWorld, [`--yes ${DEMO}`], { asks: true }),
]

export const verbs: readonly Verb[] = rows.map(withFields)
