import type { TestServer } from '../server.ts'

export const PERSON = { id: '7770001112223', login: 'zz_person_zz' }
/** In every column that is secret. */
export const SECRET = 'canary-that-no-export-has'

const AT = '2026-03-01T12:00:00.000Z'
const UUID = '11111111-2222-4333-8444-555555555555'

/** Creates a user with a row in every table that can have data about a person. */
export async function createPerson(server: TestServer, person = PERSON): Promise<void> {
  const { id: user_id, login } = person
  const { world } = server
  const [game_id, benefit_id, client_id] = [world.game.id, world.benefit.id, world.client.id]
  const other = world.viewer.id
  const insert = (table: string, row: Readonly<Record<string, string | number | null>>) => {
    const values = Object.values(row).map(value =>
      typeof value === 'string' ? literal(server, value) : String(value),
    )
    return server.execute(
      `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')}) on conflict do nothing`,
    )
  }
  await server.control('PUT', `/users/${user_id}`, { login, email: `${login}@example.com` })
  await server.execute(
    `update users set password_hash = '${SECRET}', reset_hash = '${SECRET}' where id = '${user_id}'`,
  )
  await server.control('PUT', `/users/${user_id}/follows/${other}`)
  await server.control('PUT', `/users/${other}/follows/${user_id}`)
  await server.control('PUT', `/channels/${user_id}/editors/${other}`)
  await server.control('PUT', `/channels/${other}/editors/${user_id}`)
  await server.control('PUT', `/channels/${user_id}/stream`, {})
  await server.control('POST', '/entitlements', { grants: [{ user_id, benefit_id, game_id }] })
  await server.control('POST', '/clients', { name: 'Of a person', owner_user_id: user_id })
  await server.control('POST', '/tokens', { client_id, user_id, scopes: [] })
  const [{ id: video_id }] = await server.execute(`select id from videos where user_id = '${user_id}'`)
  const [{ organization_id }] = await server.execute('select id as organization_id from organizations')
  const sealed = { key_id: 'k', sealed: SECRET, lookup_hash: `${SECRET} extra` }
  await insert('members', { organization_id, user_id })
  await insert('extra_stream_keys', { user_id, name: 'rehearsal', ...sealed, created_at: AT })
  await insert('sessions', {
    hash: SECRET,
    id: 'session',
    user_id,
    created_at: AT,
    seen_at: AT,
    expires_at: AT,
    browser: 'A browser',
  })
  await insert('connections', { user_id, client_id, scopes: '[]', created_at: AT })
  const granted = { client_id, user_id, scopes: '[]' }
  await insert('authorization_codes', {
    ...granted,
    hash: SECRET,
    redirect_uri: 'https://example.com',
    family: SECRET,
    nonce: SECRET,
    challenge: SECRET,
    expires_at: AT,
  })
  await insert('device_codes', {
    ...granted,
    hash: SECRET,
    user_code: SECRET,
    decision: 'allowed',
    network: '192.0.2.0',
    expires_at: AT,
  })
  await insert('video_markers', {
    video_id,
    position_seconds: 1,
    id: 'a-marker',
    description: 'A leap',
    created_at: AT,
  })
  await insert('recording_files', {
    video_id,
    part: 1,
    folder: 'elsewhere',
    url: '',
    state: 'local',
    published_at: AT,
    changed_at: AT,
  })
  await insert('publish_sessions', {
    adapter: 'nginx-rtmp',
    server: 'server',
    session: 'session',
    user_id,
    published_as: login,
    stream_id: '1',
    started_at: AT,
    alive_at: AT,
  })
  await insert('media_servers', {
    name: 'theirs',
    adapter: 'nginx-rtmp',
    secret_hash: SECRET,
    previous_hash: SECRET,
    user_id,
    created_at: AT,
  })
  const [campaign] = await server.execute('select number, id from campaigns')
  await insert('campaigns', {
    id: 'a-campaign',
    number: 900,
    name: 'Tides',
    organization_id,
    game_id,
    state: 'draft',
    starts_at: AT,
    ends_at: AT,
    claim_seconds: 1,
    claim_ends_at: AT,
    channels: 'listed',
    account_link: 'none',
    auto_claim: 0,
  })
  const campaign_id = campaign?.id ?? 'a-campaign'
  await insert('campaign_drops', { id: 'a-drop', campaign_id, place: 9, name: 'Shell', required_minutes: 1 })
  await insert('campaign_channels', { campaign_id, user_id })
  await insert('watched_minutes', { user_id, slot: 1, recent: 1 })
  await insert('drop_progress', { campaign: campaign?.number ?? 900, user_id, minutes: 3 })
  await insert('drop_claims', {
    user_id,
    drop_id: 'a-drop',
    benefit_id,
    entitlement_id: UUID,
    claimed_at: AT,
    source: 'viewer',
  })
  await insert('event_subscriptions', {
    id: 'a-subscription',
    client_id,
    owner: user_id,
    type: 'channel.update',
    version: '2',
    condition: JSON.stringify({ broadcaster_user_id: user_id }),
    topic: `channel.update 2 ${user_id}`,
    authorized_by: user_id,
    status: 'enabled',
    cost: 0,
    method: 'websocket',
    target: 'websocket:x',
    identity: 'an-identity',
    sealed: SECRET,
    created_at: AT,
  })
  await insert('events', {
    id: 'an-event',
    type: 'channel.update',
    version: '2',
    subject: user_id,
    occurred_at: AT,
    body: JSON.stringify({ broadcaster_user_id: user_id, broadcaster_user_login: login }),
  })
  await insert('idempotency_keys', {
    client_id,
    user_id,
    name: 'again',
    fingerprint: SECRET,
    answer: '{}',
    created_at: AT,
  })
  await insert('playback_viewers', { user_id, node: 'node', sessions: 'abcdefgh', reported_at: AT })
}

/** A text in a statement; SQLite stores a UUID as 16 bytes. */
function literal({ engine }: TestServer, value: string): string {
  const isUuid = engine === 'sqlite' && value === UUID
  return isUuid ? `x'${value.replaceAll('-', '')}'` : `'${value.replaceAll("'", "''")}'`
}
