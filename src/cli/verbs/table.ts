import { controlOperations as control, helixOperations as helix } from '../../contract/index.ts'
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

/** One row for each verb. A test fails for an operation of the control API without a row. */
const rows: readonly VerbRow[] = [
  {
    words: 'user create',
    operation: control.createUser,
    arguments: ['login'],
    secret: 'password',
    examples: ['user create plucky_jackal', 'user create quiet_heron --display-name Quiet_Heron'],
  },
  {
    words: 'user set',
    operation: control.putUser,
    secret: 'password',
    examples: [
      'user set 141981764 --login lunar_otter --display-name Lunar_Otter',
      'user set 25009227 --login brave_newt',
      'user set brave_newt --description "Night dives" --broadcaster-type affiliate --email newt@example.com',
      'user set 25009300 --login spare_crab',
    ],
  },
  {
    words: 'user list',
    operation: control.listUsers,
    columns: USER_COLUMNS,
    examples: ['user list --first 50', 'user list --all --json'],
  },
  {
    words: 'user show',
    operation: control.getUser,
    examples: ['user show 141981764', 'user show lunar_otter --json'],
  },
  {
    words: 'user delete',
    operation: control.deleteUser,
    examples: ['user delete spare_crab --yes'],
  },

  {
    words: 'org create',
    operation: control.createOrganization,
    arguments: ['name'],
    examples: ['org create "Kelp Games"'],
  },
  {
    words: 'org set',
    operation: control.putOrganization,
    examples: [`org set ${REEF} --name "Reef Interactive"`, `org set ${PEARL} --name "Pearl Works"`],
  },
  {
    words: 'org list',
    operation: control.listOrganizations,
    examples: ['org list'],
  },
  {
    words: 'org show',
    operation: control.getOrganization,
    examples: [`org show ${REEF}`],
  },
  {
    words: 'org delete',
    operation: control.deleteOrganization,
    examples: [`org delete ${PEARL} --yes`],
  },
  {
    words: 'org member add',
    operation: control.putMember,
    examples: [`org member add ${REEF} lunar_otter`],
  },
  {
    words: 'org member list',
    operation: control.listMembers,
    columns: USER_COLUMNS,
    examples: [`org member list ${REEF}`],
  },
  {
    words: 'org member remove',
    operation: control.deleteMember,
    harmless: true,
    examples: [`org member remove ${REEF} lunar_otter`],
  },

  {
    words: 'game create',
    operation: control.createGame,
    arguments: ['name'],
    examples: [`game create "Kelp Run" --org ${REEF}`],
  },
  {
    words: 'game set',
    operation: control.putGame,
    examples: [
      `game set 33214 --name Tidefall --org ${REEF} --igdb 90210`,
      'game set 33215 --name "Sand Castles" --no-org',
    ],
  },
  {
    words: 'game list',
    operation: control.listGames,
    columns: ['id', 'name', 'organization_id'],
    examples: [`game list --org ${REEF}`],
  },
  { words: 'game show', operation: control.getGame, examples: ['game show 33214'] },
  {
    words: 'game delete',
    operation: control.deleteGame,
    examples: ['game delete 33215 --yes'],
  },

  {
    words: 'benefit create',
    operation: control.createBenefit,
    arguments: ['name'],
    examples: [`benefit create "Pearl diver" --org ${REEF} --game 33214`],
  },
  {
    words: 'benefit set',
    operation: control.putBenefit,
    examples: [
      `benefit set ${LANTERN} --name "Coral lantern" --org ${REEF} --game 33214`,
      `benefit set ${COMPASS} --name "Brass compass" --org ${REEF} --no-game`,
    ],
  },
  {
    words: 'benefit list',
    operation: control.listBenefits,
    terminalColumns: ['id', 'name', 'game_id', 'organization_id'],
    examples: [`benefit list --org ${REEF}`],
  },
  {
    words: 'benefit show',
    operation: control.getBenefit,
    examples: [`benefit show ${LANTERN}`],
  },
  {
    words: 'benefit delete',
    operation: control.deleteBenefit,
    examples: [`benefit delete ${COMPASS} --yes`],
  },

  {
    words: 'client create',
    operation: control.createClient,
    arguments: ['name'],
    examples: [
      `client create "Reef drops back end" --org ${REEF}`,
      'client create "Reef overlay" --kind public --redirect-uri http://localhost:3000/callback',
    ],
  },
  {
    words: 'client list',
    operation: control.listClients,
    terminalColumns: ['id', 'name', 'kind', 'organization_id', 'owner_user_id', 'redirect_uris'],
    examples: [`client list --org ${REEF}`],
  },
  {
    words: 'client show',
    operation: control.getClient,
    examples: [`client show ${CLIENT}`],
  },
  {
    words: 'client edit',
    operation: control.patchClient,
    examples: [
      `client edit ${CLIENT} --redirect-uri https://reef.example/callback --no-implicit-grant`,
      `client edit ${CLIENT} --no-redirect-uri`,
      `client edit ${CLIENT} --device-flow`,
    ],
  },
  {
    words: 'client rotate-secret',
    operation: control.rotateClientSecret,
    asks: true,
    examples: [`client rotate-secret ${CLIENT} --yes`],
  },
  {
    words: 'client delete',
    operation: control.deleteClient,
    examples: [`client delete ${CLIENT} --yes`],
  },

  {
    words: 'token create',
    operation: control.issueToken,
    examples: [
      `token create --client ${CLIENT}`,
      `token create --client ${CLIENT} --user lunar_otter --scope user:read:follows --scope channel:manage:broadcast`,
    ],
  },
  {
    words: 'token end',
    operation: control.endToken,
    secret: 'token',
    examples: ['token end --yes < token.txt'],
  },

  {
    words: 'channel show',
    operation: control.getChannel,
    examples: ['channel show lunar_otter'],
  },
  {
    words: 'channel edit',
    operation: control.patchChannel,
    examples: [
      'channel edit lunar_otter --title "First light over the reef" --game 33214 --tag Relaxed --tag English',
      'channel edit brave_newt --language de --is-mature --no-vod-enabled --no-game --no-tag',
      'channel edit brave_newt --delay 30 --content-classification-label Gambling --is-branded-content',
    ],
  },

  {
    words: 'editor add',
    operation: control.putEditor,
    examples: [
      'editor add lunar_otter brave_newt',
      'editor add lunar_otter brave_newt --created-at 2026-02-20T08:15:00Z',
    ],
  },
  {
    words: 'editor list',
    operation: control.listEditors,
    columns: USER_COLUMNS,
    examples: ['editor list lunar_otter'],
  },
  {
    words: 'editor remove',
    operation: control.deleteEditor,
    harmless: true,
    examples: ['editor remove lunar_otter brave_newt'],
  },

  {
    words: 'stream start',
    operation: control.startStream,
    examples: ['stream start lunar_otter --viewer-count 478', 'stream start brave_newt'],
  },
  {
    words: 'stream show',
    operation: control.getStream,
    examples: ['stream show lunar_otter'],
  },
  {
    words: 'stream list',
    operation: control.listStreams,
    columns: STREAM_COLUMNS,
    terminalColumns: STREAM_TERMINAL,
    examples: ['stream list', 'stream list --game 33214 --all --json'],
  },
  {
    words: 'stream top',
    operation: helix.getStreams,
    columns: STREAM_COLUMNS,
    terminalColumns: STREAM_TERMINAL,
    examples: ['stream top', 'stream top --game 33214 --language en --all --json'],
  },
  {
    words: 'stream end',
    operation: control.endStream,
    harmless: true,
    examples: ['stream end brave_newt'],
  },

  {
    words: 'stream kick',
    operation: control.kickPublisher,
    harmless: true,
    examples: ['stream kick lunar_otter'],
  },

  {
    words: 'key add',
    operation: control.createStreamKey,
    arguments: ['name'],
    examples: [
      'key add lunar_otter guest --valid-until 2099-03-08T12:00:00Z',
      'key add lunar_otter second-encoder',
    ],
  },
  {
    words: 'key list',
    operation: control.listStreamKeys,
    examples: ['key list lunar_otter'],
  },
  {
    words: 'key show',
    operation: control.readStreamKey,
    reveals: 'anyone who sees the key can broadcast to this channel',
    examples: ['key show lunar_otter', 'key show lunar_otter --name guest'],
  },
  {
    words: 'key remove',
    operation: control.deleteStreamKey,
    examples: ['key remove lunar_otter second-encoder --yes'],
  },
  {
    words: 'key rotate',
    operation: control.rotateStreamKey,
    asksWithout: 'grace_seconds',
    examples: ['key rotate lunar_otter --grace-seconds 3600', 'key rotate brave_newt --yes'],
  },

  {
    words: 'viewer set',
    operation: control.reportViewers,
    bulk: 'counts',
    examples: ['viewer set lunar_otter=1204 brave_newt=7', 'viewer set --body viewers.json'],
  },

  {
    words: 'follow add',
    operation: control.putFollow,
    examples: [
      'follow add brave_newt lunar_otter',
      'follow add brave_newt lunar_otter --followed-at 2026-02-14T18:00:05Z',
    ],
  },
  {
    words: 'follow add-many',
    operation: control.putFollows,
    bulk: 'follows',
    examples: [
      'follow add-many --body follows.json',
      'follow add-many --user 25009300 --broadcaster lunar_otter',
    ],
  },
  {
    words: 'follow list',
    operation: control.listFollows,
    columns: USER_COLUMNS,
    examples: ['follow list brave_newt'],
  },
  {
    words: 'follow remove',
    operation: control.deleteFollow,
    harmless: true,
    examples: ['follow remove brave_newt lunar_otter'],
  },

  {
    words: 'entitlement grant',
    operation: control.grantEntitlements,
    bulk: 'grants',
    examples: [
      `entitlement grant --user brave_newt --benefit ${LANTERN} --game 33214 --id ${ENTITLEMENT}`,
      'entitlement grant --body grants.json --json',
    ],
  },
  {
    words: 'entitlement list',
    operation: control.listEntitlements,
    columns: ENTITLEMENT_COLUMNS,
    terminalColumns: ['id', 'user_id', 'benefit_id', 'game_id', 'fulfillment_status', 'timestamp'],
    examples: [
      'entitlement list --user brave_newt --fulfillment-status CLAIMED',
      `entitlement list --org ${REEF} --all`,
    ],
  },

  {
    words: 'entitlement show',
    operation: control.getEntitlement,
    examples: [`entitlement show ${ENTITLEMENT}`],
  },
  {
    words: 'entitlement history',
    operation: control.getEntitlementHistory,
    examples: [`entitlement history ${ENTITLEMENT}`],
  },

  {
    words: 'video list',
    operation: control.listVideos,
    columns: VIDEO_COLUMNS,
    examples: ['video list --user lunar_otter'],
  },
  {
    words: 'video show',
    operation: control.getVideo,
    examples: [`video show ${VIDEO}`],
  },
  {
    words: 'video edit',
    operation: control.patchVideo,
    examples: [`video edit ${VIDEO} --description "Night dive, part two" --view-count 1200`],
  },
  {
    words: 'video delete',
    operation: control.deleteVideo,
    examples: [`video delete ${VIDEO} --yes`],
  },

  {
    words: 'marker export',
    operation: control.exportVideoMarkers,
    examples: [
      `marker export ${VIDEO} --format csv`,
      `marker export ${VIDEO} --format edl --fps 59.94 --output markers.edl`,
      `marker export ${VIDEO} --format youtube`,
    ],
  },

  {
    words: 'media set',
    operation: control.putMediaServer,
    examples: ['media set edge-1 --adapter nginx-rtmp --api-url http://127.0.0.1:8088'],
  },
  {
    words: 'media list',
    operation: control.listMediaServers,
    examples: ['media list'],
  },
  {
    words: 'media show',
    operation: control.getMediaServer,
    examples: ['media show edge-1'],
  },
  {
    words: 'media rotate',
    operation: control.rotateMediaServerSecret,
    examples: ['media rotate edge-1 --grace-seconds 600'],
  },
  {
    words: 'media remove',
    operation: control.deleteMediaServer,
    examples: ['media remove edge-1 --yes'],
  },

  {
    words: 'event list',
    operation: control.listEvents,
    columns: ['id', 'type', 'subject', 'occurred_at'],
    examples: ['event list --type stream.online'],
  },
  {
    words: 'event replay',
    operation: control.replayEvents,
    arguments: ['since'],
    examples: ['event replay 2026-03-01T12:00:00Z'],
  },
  {
    words: 'event delivery list',
    operation: control.listDeliveries,
    columns: ['id', 'kind', 'type', 'status', 'attempts', 'created_at', 'answer_status', 'answer'],
    examples: ['event delivery list --status failed'],
  },
  {
    words: 'event delivery resend',
    operation: control.resendDelivery,
    examples: ['event delivery resend 0b1f0a52-8a4e-4d5c-9b8f-9a101f0e8f3b'],
  },
  {
    words: 'event subscription list',
    operation: control.listEventSubscriptions,
    columns: ['id', 'client_id', 'type', 'status', 'cost', 'created_at'],
    examples: ['event subscription list --status enabled'],
  },
  {
    words: 'event subscription delete',
    operation: control.deleteEventSubscription,
    examples: ['event subscription delete f1c2a387-161a-49f9-a165-0f21d7a4e1c4 --yes'],
  },

  {
    words: 'operator create',
    operation: control.createOperator,
    arguments: ['name'],
    examples: ['operator create night-shift'],
  },
  {
    words: 'operator list',
    operation: control.listOperators,
    examples: ['operator list'],
  },
  {
    words: 'operator delete',
    operation: control.deleteOperator,
    examples: ['operator delete night-shift --yes'],
  },

  {
    words: 'audit list',
    operation: control.listAudit,
    columns: ['at', 'actor', 'operation', 'subject'],
    examples: ['audit list', 'audit list --operation PutUser --since 2026-03-01T00:00:00Z --all --json'],
  },

  {
    words: 'clock set',
    operation: control.advanceClock,
    examples: [`clock set --advance-seconds 3600 ${DEMO}`, `clock set --time 2030-01-01T00:00:00Z ${DEMO}`],
  },
  {
    words: 'clock show',
    operation: control.readClock,
    examples: [`clock show ${DEMO}`],
  },
  {
    words: 'fault plan',
    operation: control.planFault,
    examples: [
      `fault plan --operation GetStreams --outcome unavailable --times 2 ${DEMO}`,
      `fault plan --operation GetStreams --outcome connection_reset --skip 2 --where user_id=141981764 ${DEMO}`,
    ],
  },
  {
    words: 'fault list',
    operation: control.listFaults,
    columns: ['operation', 'outcome', 'skip', 'times'],
    examples: [`fault list ${DEMO}`],
  },
  {
    words: 'fault clear',
    operation: control.clearFaults,
    harmless: true,
    examples: [`fault clear ${DEMO}`],
  },
  {
    words: 'request list',
    operation: control.listRequests,
    columns: ['number', 'at', 'operation', 'method', 'path', 'status', 'fault'],
    examples: [`request list --operation GetStreams ${DEMO}`],
  },
  {
    words: 'request clear',
    operation: control.clearRequests,
    harmless: true,
    examples: [`request clear ${DEMO}`],
  },
  {
    words: 'world show',
    operation: control.readWorld,
    examples: [`world show --json ${DEMO}`],
  },
  {
    words: 'world snapshot',
    operation: control.saveSnapshot,
    harmless: true,
    examples: [`world snapshot ${DEMO}`],
  },
  {
    words: 'world reset',
    operation: control.resetWorld,
    asks: true,
    examples: [`world reset --yes ${DEMO}`],
  },
]

export const verbs: readonly Verb[] = rows.map(withFields)
