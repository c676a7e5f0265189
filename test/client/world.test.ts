/** A whole world, built from nothing by the typed client alone, and judged by the acceptance suite. */
import { describe, expect, test } from 'bun:test'
import { type Client, createClient } from '../../src/client/index.ts'
import { SCOPES } from '../../src/contract/scope.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { judge } from '../support/server/acceptance.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'

/** Everything that the demo has, each made by a call. */
async function buildWorld({ control }: Client) {
  const reef = await control.createOrganization.one({ name: 'Reef Interactive' })
  const north = await control.createOrganization.one({ name: 'Northlight Games' })
  const game = await control.createGame.one({ name: 'Tidefall', organization_id: reef.id })
  const other = await control.createGame.one({ name: 'Orchard', organization_id: north.id })
  const benefit = await control.createBenefit.one({
    name: 'Coral lantern',
    organization_id: reef.id,
    game_id: game.id,
  })
  const key = await control.createBenefit.one({ name: 'Orchard key', organization_id: north.id })

  const program = async (name: string, organization_id: string) => {
    const { id, secret = '' } = await control.createClient.one({ name, organization_id })
    return { id, secret, app_token: (await control.issueToken.one({ client_id: id })).access_token }
  }
  const client = await program('Reef drops back end', reef.id)
  const other_client = await program('Northlight overlay', north.id)

  const person = async (login: string) => {
    const { id } = await control.createUser.one({ login })
    const input = { client_id: client.id, user_id: id, scopes: SCOPES }
    return { id, login, token: (await control.issueToken.one(input)).access_token }
  }
  const broadcaster = await person('lunar_otter')
  const viewer = await person('brave_newt')
  const editor = await person('quiet_heron')
  const offline = await person('plucky_jackal')
  await control.putMember({ organization_id: reef.id, user_id: broadcaster.id })

  const crowd = await Promise.all(Array.from({ length: 12 }, (_, n) => person(`channel_${n}`)))
  await control.patchChannel({
    user_id: broadcaster.id,
    title: 'First light',
    game_id: game.id,
    tags: ['Relaxed'],
  })
  for (const { id } of [broadcaster, ...crowd]) await control.startStream({ user_id: id, viewer_count: 3 })
  await control.reportViewers({ counts: { [broadcaster.id]: 478 } })
  await control.putEditor({ user_id: broadcaster.id, editor_id: editor.id })
  await control.putFollow({ user_id: viewer.id, broadcaster_id: broadcaster.id })
  await control.putFollows({ follows: [{ user_id: viewer.id, broadcaster_id: offline.id }] })

  const grant = { user_id: viewer.id, benefit_id: benefit.id, game_id: game.id }
  await control.grantEntitlements({ grants: Array(120).fill(grant) })
  await control.grantEntitlements({ grants: [{ ...grant, benefit_id: key.id, game_id: other.id }] })
  return {
    client,
    other_client,
    broadcaster,
    viewer,
    editor,
    offline,
    game,
    benefit,
    users: [{ scopes: SCOPES }],
  }
}

for (const engine of engines) {
  describe(`on ${engine}`, () => {
    test('the demo world, by the typed client alone', async () => {
      const place = await createStorePlace(engine, { empty: true })
      const base_url = `http://localhost:${await freePort()}`
      try {
        const strand = new StrandProcess(
          ['serve', '--listen', base_url.slice('http://'.length), '--data', place.folder],
          {
            environment: {
              STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
              ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
            },
          },
        )
        await strand.serving()
        const client = createClient({ baseUrl: base_url, operatorToken: OPERATOR_TOKEN })
        const world = await buildWorld(client)
        let granted = 0
        for await (const { user_id } of client.control.listEntitlements.each())
          granted += user_id === world.viewer.id ? 1 : 0
        expect(granted).toBe(121)
        await judge(
          {
            base_url,
            helix_url: `${base_url}/helix`,
            oauth_url: `${base_url}/oauth2`,
            control_url: `${base_url}/control`,
            operator_token: OPERATOR_TOKEN,
            ...world,
          },
          place.folder,
        )
      } finally {
        await endAllProcesses()
        await place.remove()
      }
    })
  })
}
