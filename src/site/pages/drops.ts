/** The drops of a viewer: entitlements of all organizations, newest first (D-157). */
import { apiFor } from '../request/api-for.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { dropsPage } from './drops-view.tsx'

const FIRST = 20

type DropsServices = SessionServices & Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl'>

export const showDrops: PageHandler = async (browser, services: DropsServices) => {
  if ((await readSession(browser, services)) === undefined) return { goTo: '/login?next=/drops' }
  const after = browser.parameter('after')
  const { helix } = await apiFor(browser, services, ['user:read:entitlements'])
  const page = await helix.getDropsEntitlements({ first: FIRST, ...(after && { after }) })
  const { store } = services
  const benefits = await store.benefits.withIds(page.data.map(({ benefit_id }) => benefit_id))
  const games = await store.games.withIds(page.data.map(({ game_id }) => game_id))
  const [benefitNames, gameNames] = [benefits, games].map(
    rows => new Map(rows.map(({ id, name }) => [id, name])),
  )
  return dropsPage({
    drops: page.data.map(each => ({
      id: each.id,
      benefit: benefitNames?.get(each.benefit_id) ?? each.benefit_id,
      game_id: each.game_id,
      game: gameNames?.get(each.game_id),
      isFulfilled: each.fulfillment_status === 'FULFILLED',
      granted_at: each.timestamp,
      updated_at: each.last_updated,
    })),
    isFirst: after === undefined,
    cursor: page.pagination.cursor,
  })
}
