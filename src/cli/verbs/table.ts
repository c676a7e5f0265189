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
  key: 'stream keys',
  viewer: 'viewer counts of live streams',
  follow: 'followed channels',
  entitlement: 'drops entitlements of users',
  video: 'videos of past streams',
  operator: 'named operator tokens',
  audit: 'the audit log',
  clock: 'the clock of a demo',
  fault: 'injected faults of a demo',
  world: 'the generated world of a demo',
}

const STREAM_COLUMNS = ['user_id', 'user_login', 'game_name', 'viewer_count', 'started_at', 'title']
const ENTITLEMENT_COLUMNS = ['id', 'user_id', 'game_id', 'benefit_id', 'fulfillment_status', 'timestamp']
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
    summary: 'create a user with a new id',
    operation: control.createUser,
    arguments: ['login'],
    secret: 'password',
    examples: ['user create plucky_jackal', 'user create quiet_heron --display-name Quiet_Heron'],
  },
  {
    words: 'user set',
    summary: 'create or update the user with this id',
    operation: control.putUser,
    secret: 'password',
    examples: [
      'user set 141981764 --login lunar_otter --display-name Lunar_Otter',
      'user set 25009227 --login brave_newt',
      'user set 25009300 --login spare_crab',
    ],
  },
  {
    words: 'user list',
    summary: 'list users by id, or find one by login',
    operation: control.listUsers,
    examples: ['user list --first 50', 'user list --all --json'],
  },
  {
    words: 'user show',
    summary: 'show a user',
    operation: control.getUser,
    examples: ['user show 141981764', 'user show lunar_otter --json'],
  },
  {
    words: 'user delete',
    summary: 'delete a user with channel, stream, videos, follows and tokens; entitlements are kept',
    operation: control.deleteUser,
    examples: ['user delete spare_crab --yes'],
  },

  {
    words: 'org create',
    summary: 'create an organization with a new id',
    operation: control.createOrganization,
    arguments: ['name'],
    examples: ['org create "Kelp Games"'],
  },
  {
    words: 'org set',
    summary: 'create or update the organization with this id',
    operation: control.putOrganization,
    examples: [`org set ${REEF} --name "Reef Interactive"`, `org set ${PEARL} --name "Pearl Works"`],
  },
  {
    words: 'org list',
    summary: 'list organizations by id',
    operation: control.listOrganizations,
    examples: ['org list'],
  },
  {
    words: 'org show',
    summary: 'show an organization',
    operation: control.getOrganization,
    examples: [`org show ${REEF}`],
  },
  {
    words: 'org delete',
    summary: 'delete an organization that owns nothing',
    operation: control.deleteOrganization,
    examples: [`org delete ${PEARL} --yes`],
  },
  {
    words: 'org member add',
    summary: 'add a user to an organization',
    operation: control.putMember,
    examples: [`org member add ${REEF} lunar_otter`],
  },
  {
    words: 'org member list',
    summary: 'list the members of an organization',
    operation: control.listMembers,
    examples: [`org member list ${REEF}`],
  },
  {
    words: 'org member remove',
    summary: 'remove a user from an organization',
    operation: control.deleteMember,
    harmless: true,
    examples: [`org member remove ${REEF} lunar_otter`],
  },

  {
    words: 'game create',
    summary: 'create a game with a new id',
    operation: control.createGame,
    arguments: ['name'],
    examples: [`game create "Kelp Run" --org ${REEF}`],
  },
  {
    words: 'game set',
    summary: 'create or update the game with this id',
    operation: control.putGame,
    examples: [
      `game set 33214 --name Tidefall --org ${REEF}`,
      'game set 33215 --name "Sand Castles" --no-org',
    ],
  },
  {
    words: 'game list',
    summary: 'list games by id',
    operation: control.listGames,
    examples: [`game list --org ${REEF}`],
  },
  { words: 'game show', summary: 'show a game', operation: control.getGame, examples: ['game show 33214'] },
  {
    words: 'game delete',
    summary: 'delete a game without benefits and entitlements, and remove it from channels',
    operation: control.deleteGame,
    examples: ['game delete 33215 --yes'],
  },

  {
    words: 'benefit create',
    summary: 'create a benefit with a new id',
    operation: control.createBenefit,
    arguments: ['name'],
    examples: [`benefit create "Pearl diver" --org ${REEF} --game 33214`],
  },
  {
    words: 'benefit set',
    summary: 'create or update the benefit with this id',
    operation: control.putBenefit,
    examples: [
      `benefit set ${LANTERN} --name "Coral lantern" --org ${REEF} --game 33214`,
      `benefit set ${COMPASS} --name "Brass compass" --org ${REEF} --no-game`,
    ],
  },
  {
    words: 'benefit list',
    summary: 'list benefits by id',
    operation: control.listBenefits,
    examples: [`benefit list --org ${REEF}`],
  },
  {
    words: 'benefit show',
    summary: 'show a benefit',
    operation: control.getBenefit,
    examples: [`benefit show ${LANTERN}`],
  },
  {
    words: 'benefit delete',
    summary: 'delete a benefit without entitlements',
    operation: control.deleteBenefit,
    examples: [`benefit delete ${COMPASS} --yes`],
  },

  {
    words: 'client create',
    summary: 'register a client and print its secret, which is not shown again',
    operation: control.createClient,
    arguments: ['name'],
    examples: [
      `client create "Reef drops back end" --org ${REEF}`,
      'client create "Reef overlay" --kind public --redirect-uri http://localhost:3000/callback',
    ],
  },
  {
    words: 'client list',
    summary: 'list clients by id',
    operation: control.listClients,
    examples: [`client list --org ${REEF}`],
  },
  {
    words: 'client show',
    summary: 'show a client without its secret',
    operation: control.getClient,
    examples: [`client show ${CLIENT}`],
  },
  {
    words: 'client edit',
    summary: 'change fields of a client',
    operation: control.patchClient,
    examples: [
      `client edit ${CLIENT} --redirect-uri https://reef.example/callback --no-implicit-grant`,
      `client edit ${CLIENT} --no-redirect-uri`,
      `client edit ${CLIENT} --device-flow`,
    ],
  },
  {
    words: 'client rotate-secret',
    summary: 'replace the secret of a confidential client; the old one becomes invalid immediately',
    operation: control.rotateClientSecret,
    asks: true,
    examples: [`client rotate-secret ${CLIENT} --yes`],
  },
  {
    words: 'client delete',
    summary: 'delete a client and revoke its tokens',
    operation: control.deleteClient,
    examples: [`client delete ${CLIENT} --yes`],
  },

  {
    words: 'token create',
    summary: 'issue an app token, or with --user a user token',
    operation: control.issueToken,
    examples: [
      `token create --client ${CLIENT}`,
      `token create --client ${CLIENT} --user lunar_otter --scope user:read:follows --scope channel:manage:broadcast`,
    ],
  },
  {
    words: 'token end',
    summary: 'revoke an access or refresh token, read from standard input',
    operation: control.endToken,
    secret: 'token',
    examples: ['token end --yes < token.txt'],
  },

  {
    words: 'channel show',
    summary: 'show a channel',
    operation: control.getChannel,
    examples: ['channel show lunar_otter'],
  },
  {
    words: 'channel edit',
    summary: 'change fields of a channel; a live stream shows them immediately',
    operation: control.patchChannel,
    examples: [
      'channel edit lunar_otter --title "First light over the reef" --game 33214 --tag Relaxed --tag English',
      'channel edit brave_newt --language de --is-mature --no-vod-enabled --no-game --no-tag',
    ],
  },

  {
    words: 'editor add',
    summary: 'make a user an editor of a channel',
    operation: control.putEditor,
    examples: ['editor add lunar_otter brave_newt'],
  },
  {
    words: 'editor list',
    summary: 'list the editors of a channel',
    operation: control.listEditors,
    examples: ['editor list lunar_otter'],
  },
  {
    words: 'editor remove',
    summary: 'remove an editor from a channel',
    operation: control.deleteEditor,
    harmless: true,
    examples: ['editor remove lunar_otter brave_newt'],
  },

  {
    words: 'stream start',
    summary: 'start the stream of a channel, or show it if the channel is live already',
    operation: control.startStream,
    examples: ['stream start lunar_otter --viewer-count 478', 'stream start brave_newt'],
  },
  {
    words: 'stream show',
    summary: 'show the live stream of a channel',
    operation: control.getStream,
    examples: ['stream show lunar_otter'],
  },
  {
    words: 'stream list',
    summary: 'list all live streams by channel',
    operation: control.listStreams,
    columns: STREAM_COLUMNS,
    examples: ['stream list', 'stream list --game 33214 --all --json'],
  },
  {
    words: 'stream top',
    summary: 'list live streams, most viewers first',
    operation: helix.getStreams,
    columns: STREAM_COLUMNS,
    examples: ['stream top', 'stream top --game 33214 --language en --all --json'],
  },
  {
    words: 'stream end',
    summary: 'end the live stream of a channel; its video is kept',
    operation: control.endStream,
    harmless: true,
    examples: ['stream end brave_newt'],
  },

  {
    words: 'key rotate',
    summary: 'replace the stream key of a channel without interrupting a running broadcast',
    operation: control.rotateStreamKey,
    asksWithout: 'grace_seconds',
    examples: ['key rotate lunar_otter --grace-seconds 3600', 'key rotate brave_newt --yes'],
  },

  {
    words: 'viewer set',
    summary: 'set the viewer counts of up to 10,000 channels; those that are not live are ignored',
    operation: control.reportViewers,
    bulk: 'counts',
    examples: ['viewer set lunar_otter=1204 brave_newt=7', 'viewer set --body viewers.json'],
  },

  {
    words: 'follow add',
    summary: 'make a user follow a channel',
    operation: control.putFollow,
    examples: ['follow add brave_newt lunar_otter'],
  },
  {
    words: 'follow add-many',
    summary: 'add up to 10,000 follows, all or none',
    operation: control.putFollows,
    bulk: 'follows',
    examples: [
      'follow add-many --body follows.json',
      'follow add-many --user 25009300 --broadcaster lunar_otter',
    ],
  },
  {
    words: 'follow list',
    summary: 'list the channels that a user follows',
    operation: control.listFollows,
    examples: ['follow list brave_newt'],
  },
  {
    words: 'follow remove',
    summary: 'make a user unfollow a channel',
    operation: control.deleteFollow,
    harmless: true,
    examples: ['follow remove brave_newt lunar_otter'],
  },

  {
    words: 'entitlement grant',
    summary: 'grant 1 to 1000 entitlements, all or none',
    operation: control.grantEntitlements,
    bulk: 'grants',
    examples: [
      `entitlement grant --user brave_newt --benefit ${LANTERN} --game 33214 --id ${ENTITLEMENT}`,
      'entitlement grant --body grants.json --json',
    ],
  },
  {
    words: 'entitlement list',
    summary: 'list entitlements of all organizations, newest first',
    operation: control.listEntitlements,
    columns: ENTITLEMENT_COLUMNS,
    examples: [
      'entitlement list --user brave_newt --fulfillment-status CLAIMED',
      `entitlement list --org ${REEF} --all`,
    ],
  },

  {
    words: 'entitlement show',
    summary: 'show an entitlement',
    operation: control.getEntitlement,
    examples: [`entitlement show ${ENTITLEMENT}`],
  },
  {
    words: 'entitlement history',
    summary: 'list the grant and the status changes of an entitlement, oldest first',
    operation: control.getEntitlementHistory,
    examples: [`entitlement history ${ENTITLEMENT}`],
  },

  {
    words: 'video list',
    summary: 'list videos, newest first',
    operation: control.listVideos,
    examples: ['video list --user lunar_otter'],
  },
  {
    words: 'video show',
    summary: 'show a video',
    operation: control.getVideo,
    examples: [`video show ${VIDEO}`],
  },
  {
    words: 'video delete',
    summary: 'delete a video with its markers; a stream that is still live continues without one',
    operation: control.deleteVideo,
    examples: [`video delete ${VIDEO} --yes`],
  },

  {
    words: 'operator create',
    summary: 'create a named operator token and print it; it is not shown again',
    operation: control.createOperator,
    arguments: ['name'],
    examples: ['operator create night-shift'],
  },
  {
    words: 'operator list',
    summary: 'list the names of operator tokens',
    operation: control.listOperators,
    examples: ['operator list'],
  },
  {
    words: 'operator delete',
    summary: 'revoke a named operator token immediately',
    operation: control.deleteOperator,
    examples: ['operator delete night-shift --yes'],
  },

  {
    words: 'audit list',
    summary: 'list changes and who made them, newest first',
    operation: control.listAudit,
    columns: ['at', 'actor', 'operation', 'subject'],
    examples: ['audit list', 'audit list --operation PutUser --since 2026-03-01T00:00:00Z --all --json'],
  },

  {
    words: 'clock set',
    summary: 'advance the clock of the demo, stop it, or let it run',
    operation: control.advanceClock,
    examples: [`clock set --advance-seconds 3600 ${DEMO}`],
  },
  {
    words: 'clock show',
    summary: 'show the time of the demo',
    operation: control.readClock,
    examples: [`clock show ${DEMO}`],
  },
  {
    words: 'fault plan',
    summary: 'make the next calls of an operation fail with the chosen outcome',
    operation: control.planFault,
    examples: [`fault plan --operation GetStreams --outcome unavailable --times 2 ${DEMO}`],
  },
  {
    words: 'fault list',
    summary: 'list the planned faults in the order in which they apply, with the remaining calls',
    operation: control.listFaults,
    examples: [`fault list ${DEMO}`],
  },
  {
    words: 'fault clear',
    summary: 'remove all planned faults',
    operation: control.clearFaults,
    harmless: true,
    examples: [`fault clear ${DEMO}`],
  },
  {
    words: 'world reset',
    summary: 'reset the demo to its initial state: ids, tokens, clock and planned faults',
    operation: control.resetWorld,
    asks: true,
    examples: [`world reset --yes ${DEMO}`],
  },
]

export const verbs: readonly Verb[] = rows.map(withFields)
