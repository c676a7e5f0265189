/**
 * `npm run screenshots`: pictures of the site for README and docs, light and dark, from the demo world. The world has a
 * fixed seed and a clock that starts at a fixed time, and ffmpeg broadcasts a drawn picture, so that pictures change only
 * with the pages. Needs chromium and ffmpeg.
 *
 *   npm run screenshots
 *   npm run screenshots -- docs home      only these
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { serveDemo } from '../src/server/serve-demo.ts'
import { FOLDER, MAX_BYTES, SCHEMES, SHOTS, type Shot } from './screenshot-list.ts'

const START = Date.parse('2026-03-01T19:30:00Z')
/** How far the clock of the demo, and of the pages, is ahead of that of this machine. */
const AHEAD = START - Date.now()
const VIEWPORT = { width: 1280, height: 800 }
/** A drawn picture that moves: no test pattern, and nothing that belongs to others. */
const PICTURE =
  'gradients=size=640x360:rate=15:speed=0.02:seed=7:nb_colors=5:type=spiral:c0=0x14124a:c1=0x4f46e5:c2=0x8b5cf6:c3=0xf472b6:c4=0x0e0f14'
const WAIT_MILLISECONDS = 60_000
/** A recording of some length has a timeline to show, with markers at these times. */
const MARKERS: readonly (readonly [milliseconds: number, description: string])[] = [
  [3000, 'first colours'],
  [4000, 'the good part'],
  [3000, 'a question from chat'],
]
const CHANNEL = { title: 'Painting with light, first try', tags: ['Relaxed', 'Art'] }

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !SHOTS.some(shot => shot.name === name))
if (unknown.length > 0) stop(`there is no page ${unknown.join(', ')}: see build/screenshot-list.ts`)

const browserPath =
  process.env.TEST_CHROMIUM ||
  firstOf('chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome')
const ffmpeg = firstOf('ffmpeg')
const folder = mkdtempSync(join(tmpdir(), 'strand-screenshots-'))
mkdirSync(FOLDER, { recursive: true })

const demo = await serveDemo({
  port: 0,
  rtmpPort: 0,
  seed: 42,
  streams: 200,
  movingViewers: false,
  clock: { at: START, running: true },
  settings: {},
})
const { world } = demo
let encoder: Bun.Subprocess | undefined
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
try {
  await takeAll(browser)
} finally {
  await browser.close()
  encoder?.kill('SIGKILL')
  await encoder?.exited
  await demo.stop()
  rmSync(folder, { recursive: true, force: true })
}
reportSize()
process.exit(0)

async function takeAll(browser: Browser): Promise<void> {
  const { rtmp, base_url } = world
  const login = rtmp?.login ?? ''
  const { id } = world.offline
  await call('PATCH', `/helix/channels?broadcaster_id=${id}`, { ...CHANNEL, game_id: world.game.id })
  const video = await record(login)
  for (const shot of SHOTS) {
    if (wanted.length > 0 && !wanted.includes(shot.name)) continue
    // The home page shows the channel with the most viewers, unless one is broadcast.
    if (shot.name !== 'home') encoder ??= await goLive(login)
    const path = shot.path.replace('{login}', login).replace('{video}', video)
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({ viewport: VIEWPORT, colorScheme, reducedMotion: 'reduce' })
      await context.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${AHEAD} }`)
      const isThere = await take(context, shot, base_url + path, `${shot.name}-${colorScheme}`)
      await context.close()
      if (!isThere) break
    }
  }
}

/** False: there is no such page. */
async function take(context: BrowserContext, shot: Shot, url: string, name: string): Promise<boolean> {
  const page = await context.newPage()
  if (shot.as === 'broadcaster') await logIn(page, world.rtmp?.login ?? '')
  if (shot.as === 'viewer') await logIn(page, world.users[0]?.login ?? '')
  const response = await page.goto(url)
  if (response?.status() === 404) {
    console.log(`${shot.name}: skipped, ${shot.path} is answered with 404`)
    return false
  }
  if (shot.as === 'operator') await enterToken(page)
  if (shot.until === 'playing') await untilPlaying(page)
  if (shot.until === 'tried') await tryOperation(page)
  await page.evaluate('document.fonts.ready')
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined)
  // The controls of a player disappear when nothing moves.
  if (shot.until === 'playing') await page.mouse.move(640, 320)
  await save(page, name)
  return true
}

async function logIn(page: Page, login: string): Promise<void> {
  await page.goto(`${world.base_url}/login`)
  await page.fill('#login', login)
  await page.fill('#password', world.users[0]?.password ?? '')
  await Promise.all([page.waitForURL(/account/), page.keyboard.press('Enter')])
}

async function enterToken(page: Page): Promise<void> {
  const field = page.locator('main input:not([type=hidden])').first()
  if ((await field.count()) === 0) return
  await field.fill(world.operator_token)
  await Promise.all([page.waitForEvent('framenavigated'), field.press('Enter')])
  // The charts of the overview need a few values.
  await Bun.sleep(6000)
}

async function untilPlaying(page: Page): Promise<void> {
  // A recording waits for a click.
  const start = page.locator('[data-part=start]:visible')
  await until(async () => {
    if ((await start.count()) > 0) await start.click()
    return page.evaluate<boolean>('document.querySelector("video")?.currentTime > 1')
  })
  await page.mouse.move(640, 300)
}

async function tryOperation(page: Page): Promise<void> {
  const article = page.locator('#GetStreams')
  await article.getByRole('button', { name: 'Try it' }).click()
  await article.locator('#try-GetStreams-first').fill('3')
  await article.getByRole('button', { name: 'Send' }).click()
  await article.locator('.status-line').waitFor()
  await article.evaluate(element => element.scrollIntoView())
}

async function save(page: Page, name: string): Promise<void> {
  const png = join(folder, `${name}.png`)
  const file = join(FOLDER, `${name}.webp`)
  await page.screenshot({ path: png })
  const words = ['-i', png, '-c:v', 'libwebp', '-quality', '80', '-compression_level', '6', file]
  const { exitCode, stderr } = Bun.spawnSync([ffmpeg, '-y', '-loglevel', 'error', ...words])
  if (exitCode !== 0) stop(`ffmpeg could not write ${file}: ${stderr}`)
  console.log(`${file}: ${Math.round(statSync(file).size / 1000)} KB`)
}

/** Makes the offline channel of the demo live. */
async function goLive(login: string): Promise<Bun.Subprocess> {
  const { rtmp, base_url } = world
  const input = ['-re', '-f', 'lavfi', '-i', PICTURE, '-f', 'lavfi', '-i', 'sine=frequency=220']
  const output = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '30', '-c:a', 'aac']
  const words = ['-loglevel', 'error', ...input, ...output, '-f', 'flv', `${rtmp?.url}/${rtmp?.stream_key}`]
  const child = Bun.spawn([ffmpeg, ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  await until(async () => (await fetch(`${base_url}/live/${login}.m3u8`, { method: 'HEAD' })).ok)
  return child
}

/** A broadcast that has ended, with markers. Returns the id of its video. */
async function record(login: string): Promise<string> {
  const { id } = world.offline
  const child = await goLive(login)
  for (const [milliseconds, description] of MARKERS) {
    await Bun.sleep(milliseconds)
    await call('POST', '/helix/streams/markers', { user_id: id, description })
  }
  const [video] = await call('GET', `/control/videos?user_id=${id}&first=1`)
  child.kill('SIGINT')
  await child.exited
  await Bun.sleep(1000)
  await call('DELETE', `/control/channels/${id}/stream`)
  return video?.id ?? ''
}

/** Calls the API as the broadcaster, and the control API as the operator. */
async function call(method: string, path: string, body?: object): Promise<readonly { id: string }[]> {
  const token = path.startsWith('/control') ? world.operator_token : world.offline.token
  const response = await fetch(world.base_url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return text === '' ? [] : (JSON.parse(text) as { data: { id: string }[] }).data
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WAIT_MILLISECONDS
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('no video plays')
    await Bun.sleep(200)
  }
}

function reportSize(): void {
  const bytes = readdirSync(FOLDER).reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0)
  console.log(`${FOLDER}: ${Math.round(bytes / 1000)} KB`)
  if (bytes > MAX_BYTES) stop(`the pictures exceed ${MAX_BYTES / 1000} KB`)
}

function firstOf(...names: string[]): string {
  const path = names.map(name => Bun.which(name)).find(each => each !== null)
  return path ?? stop(`${names[0]} is not on the PATH`)
}

function stop(message: string): never {
  console.error(message)
  process.exit(1)
}
