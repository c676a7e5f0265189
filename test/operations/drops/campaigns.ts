/** What the tests of campaigns share: campaigns with a game of their own, because a game has at most five at a time. */
import { isoMillis } from '../../../src/kit/time/clock.ts'
import type { TestServer } from '../../support/server.ts'
import { newUser, nowOf, tokenOf } from '../control/operator.ts'

// biome-ignore lint/suspicious/noExplicitAny: a row is whatever the server sent; tests look into it freely
type Row = any

let games = 0

export async function newGame(server: TestServer, more: object = {}): Promise<Row> {
  games += 1
  const organization_id = server.world.organization.id
  const [game] = await server.control('POST', '/games', {
    name: `Kite Racers ${games}`,
    organization_id,
    ...more,
  })
  return game
}

export async function newBenefit(server: TestServer, more: object = {}): Promise<Row> {
  const organization_id = server.world.organization.id
  const [benefit] = await server.control('POST', '/benefits', { name: 'Red kite', organization_id, ...more })
  return benefit
}

/** A body that creates a campaign of a day, with a drop of 30 minutes. */
export async function campaignBody(server: TestServer, more: object = {}): Promise<Row> {
  const now = nowOf(server)
  const [game, benefit] = [await newGame(server), await newBenefit(server)]
  return {
    name: 'Reef week',
    organization_id: server.world.organization.id,
    game_id: game.id,
    starts_at: isoMillis(now - 1000),
    ends_at: isoMillis(now + 86_400_000),
    drops: [
      { id: crypto.randomUUID(), name: 'Half an hour', required_minutes: 30, benefit_ids: [benefit.id] },
    ],
    ...more,
  }
}

export async function newCampaign(server: TestServer, more: object = {}): Promise<Row> {
  const body = await campaignBody(server, more)
  const [campaign] = await server.control('PUT', `/campaigns/${crypto.randomUUID()}`, body)
  return campaign
}

export async function publishedCampaign(server: TestServer, more: object = {}): Promise<Row> {
  const { id } = await newCampaign(server, more)
  const [campaign] = await server.control('POST', `/campaigns/${id}/publish`)
  return campaign
}

/** A viewer with a token for everything, and with minutes in a campaign. */
export async function newViewer(server: TestServer, campaign?: Row, minutes = 0) {
  const { id } = await newUser(server)
  if (minutes > 0)
    await server.control('POST', `/campaigns/${campaign.id}/viewers/${id}/minutes`, { add: minutes })
  return { id, token: await tokenOf(server, id) }
}

/** A channel that is live with a game. */
export async function newLiveChannel(server: TestServer, game_id: string): Promise<Row> {
  const user = await newUser(server)
  await server.control('PATCH', `/channels/${user.id}`, { game_id })
  await server.control('PUT', `/channels/${user.id}/stream`, {})
  return user
}

export const advance = (server: TestServer, advance_seconds: number) =>
  server.control('POST', '/clock', { advance_seconds })

/** Deletes the campaign of the world, for tests that need a world without one. */
export const deleteCampaignOfWorld = (server: TestServer) =>
  server.control('DELETE', `/campaigns/${server.world.campaign.id}`)
