/** The demo whose pages pictures.full.ts compares with their pictures, and every-page.full.ts tries with odd content. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type Demo, serveDemo } from '../../src/server/serve-demo.ts'
import { authorizeLink, CALLBACK } from '../support/browser/consent.ts'
import { executeIn } from '../support/server.ts'
import type { PagePicture, PersonName, Places } from './picture-list.ts'

/** Its clock stands still. */
const NOW = Date.parse('2026-03-01T19:30:00Z')

type World = Demo['world']

/** What lists of the control API have of videos and streams. */
interface Listed {
  readonly id: string
  readonly user_id?: string
  readonly user_login?: string
  readonly game_id?: string
  readonly is_live?: boolean
  readonly marker_count?: number
  readonly reset_url?: string
}

type Call = (method: string, path: string, body?: object) => Promise<Listed[]>

export interface PictureDemo {
  readonly world: World
  readonly places: Places
  /** A call of the control API that must succeed; gives the rows. */
  readonly call: Call
  stop(): Promise<void>
}

export async function startPictureDemo(): Promise<PictureDemo> {
  const folder = mkdtempSync(join(tmpdir(), 'strand-pictures-'))
  const demo = await serveDemo({
    port: 0,
    rtmpPort: 0,
    data: folder,
    seed: 42,
    streams: 40,
    movingViewers: false,
    clock: { at: NOW, running: false },
    settings: { STRAND_SIGN_UP: 'open', STRAND_LOG: 'error' },
  })
  const { world } = demo
  return {
    world,
    places: await findPlaces(world, folder),
    call: callFor(world),
    stop: async () => {
      await demo.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Where the clock stands still as that of the demo does. */
export async function newContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    bypassCSP: true,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    ...options,
  })
  await context.clock.setFixedTime(NOW)
  return context
}

/** Logs this person in. */
export async function arrive(page: Page, name: PersonName, world: World): Promise<void> {
  if (name === 'visitor') return
  if (name === 'operator') {
    await page.goto(`${world.base_url}/console`)
    await page.fill('#password', world.operator_token)
    await Promise.all([page.waitForSelector('.console'), page.keyboard.press('Enter')])
    return
  }
  const { login, password } = world.users.find(({ id }) => id === world[name].id) ?? {
    login: '',
    password: '',
  }
  await page.goto(`${world.base_url}/login`)
  await page.fill('#login', login)
  await page.fill('#password', password)
  await Promise.all([page.waitForURL(/account/), page.keyboard.press('Enter')])
}

export async function openPicture(
  page: Page,
  { path, hidden, without, waitFor, press }: PagePicture,
  { world, places }: PictureDemo,
): Promise<void> {
  await page.goto(world.base_url + path(places), { waitUntil: 'load' })
  if (waitFor !== undefined) await page.locator(waitFor).first().waitFor({ state: 'attached' })
  if (without !== undefined)
    await page.evaluate(`for (const element of document.querySelectorAll('${without}')) element.remove()`)
  await page.evaluate(`document.fonts.ready.then(() => Promise.all([...document.images].map(image => {
    image.loading = 'eager'
    return image.decode().catch(() => undefined)
  })))`)
  if (press !== undefined) await page.keyboard.press(press)
  if (hidden !== undefined) await page.addStyleTag({ content: `${hidden}{visibility:hidden}` })
}

const callFor =
  (world: World): Call =>
  async (method, path, body) => {
    const response = await fetch(world.base_url + path, {
      method,
      headers: { Authorization: `Bearer ${world.operator_token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return ((await response.json()) as { data: Listed[] }).data
  }

async function findPlaces(world: World, folder: string): Promise<Places> {
  const call = callFor(world)
  const execute = (statement: string) => executeIn({ folder, databaseUrl: undefined }, statement)
  const loginOf = (id: string) => world.users.find(each => each.id === id)?.login ?? ''
  const { client } = world
  await call('PATCH', `/control/clients/${client.id}`, { redirect_uris: [CALLBACK] })
  const [video] = await call('GET', `/control/videos?user_id=${world.broadcaster.id}&first=1`)
  const [recorded] = (await call('GET', '/control/videos?first=100')).filter(
    each => !each.is_live && Number(each.marker_count) > 5,
  )
  await execute(`update videos set recording_url = '' where id = '${recorded?.id}'`)
  const [waiting] = (await call('GET', '/control/streams?first=20')).slice(-1)
  const at = new Date(NOW).toISOString()
  await execute(
    `insert into publish_sessions (adapter, server, session, user_id, stream_id, started_at, alive_at, ended_at, published_as)
     values ('embedded', 'local', '1', '${waiting?.user_id}', '${waiting?.id}', '${at}', '${at}', '${at}', '')`,
  )
  const day = (days: number) => `${new Date(NOW - days * 86_400_000).toISOString().slice(0, 19)}Z`
  await execute(
    `insert into videos (id, user_id, stream_id, created_at, ended_at, title, language, game_id)
     values ('77', '${world.editor.id}', '78', '${day(1.25)}', '${day(1)}', 'Slow morning on the reef', 'en', '')`,
  )
  const { campaign, channel: dropsChannel } = await makeCampaigns(call, world)
  const device = await fetch(`${world.base_url}/oauth2/device`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id, scopes: 'user:read:follows' }),
  })
  if (!device.ok) throw new Error(`the device got no code: ${device.status}`)
  const { user_code } = (await device.json()) as { user_code: string }
  const [reset] = await call('POST', `/control/users/${world.viewer.id}/password-reset`)
  return {
    live: world.broadcaster.login,
    offline: loginOf(world.offline.id),
    video: video?.id ?? '',
    ended: loginOf(world.editor.id),
    waiting: waiting?.user_login ?? '',
    recorded: recorded?.id ?? '',
    game: world.game.id,
    user: world.viewer.id,
    deviceCode: user_code,
    authorize: authorizeLink(client.id),
    newPassword: reset?.reset_url?.replace(/^https?:\/\/[^/]+/, '') ?? '',
    dropsChannel,
    campaign,
  }
}

/** Two campaigns that run and one that comes. The viewer has claimed one drop, can claim another, and watches for a third. */
async function makeCampaigns(call: Call, world: World) {
  const id = (number: number) => `0b6f5a1e-6f0a-4f38-8f9f-${String(number).padStart(12, '0')}`
  const hours = (count: number) => new Date(NOW + count * 3_600_000).toISOString()
  const organization_id = world.organization.id
  const names = ['Red kite', 'Storm kite', 'Golden spool']
  for (const [at, name] of names.entries())
    await call('PUT', `/control/benefits/${id(at)}`, { name, organization_id })
  const streams = await call('GET', '/control/streams?first=20')
  const [first, second] = [...new Map(streams.map(each => [each.game_id, each])).values()].filter(
    each => each.game_id,
  )
  const campaigns = [
    { number: 10, name: 'Kite week', game_id: first?.game_id, from: -30, to: 75, minutes: [30, 60, 120] },
    { number: 20, name: 'Harbour lights', game_id: second?.game_id, from: -3, to: 20, minutes: [45] },
    { number: 30, name: 'Autumn winds', game_id: first?.game_id, from: 100, to: 200, minutes: [60, 120] },
  ]
  for (const { number, name, game_id, from, to, minutes } of campaigns) {
    await call('PUT', `/control/campaigns/${id(number)}`, {
      name,
      organization_id,
      game_id,
      starts_at: hours(from),
      ends_at: hours(to),
      link_client_id: world.client.id,
      link_url: 'https://studio.example/link',
      drops: minutes.map((required_minutes, at) => ({
        id: id(number + at + 1),
        name: ['First wind', 'Steady breeze', 'Full storm'][at],
        required_minutes,
        benefit_ids: [id(at)],
      })),
    })
    await call('POST', `/control/campaigns/${id(number)}/publish`)
  }
  const [token] = (await call('POST', '/control/tokens', {
    client_id: world.client.id,
    user_id: world.viewer.id,
    scopes: ['user:manage:drops'],
  })) as unknown as { access_token: string }[]
  await call('POST', `/control/campaigns/${id(10)}/viewers/${world.viewer.id}/minutes`, { add: 72 })
  const claimed = await fetch(`${world.base_url}/drops/claims`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token?.access_token}`,
      'Client-Id': world.client.id,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ drop_id: id(11) }),
  })
  if (!claimed.ok) throw new Error(`the drop was not claimed: ${claimed.status}`)
  return { campaign: id(10), channel: first?.user_login ?? '' }
}
