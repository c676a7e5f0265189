/** Scripts and style sheets: cached for a year under a name that changes with them, and small. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { Glob } from 'bun'
import {
  ASSET_PREFIX,
  findAsset,
  findFont,
  fontPath,
  islandScripts,
  stylePath,
} from '../../src/site/build/assets.ts'
import { onEachStore } from '../support/server/each-store.ts'

const islands = readdirSync('src/site/islands').map(file => file.replace('.tsx', ''))

/** Every script that an island loads at some time: at once, and on demand; without those that have a certain text. */
async function closureOf(
  path: string,
  found = new Map<string, number>(),
  without?: string,
): Promise<Map<string, number>> {
  const asset = await findAsset(path)
  if (asset === undefined || found.has(path) || (without && asset.text.includes(without))) return found
  found.set(path, asset.gzipped.length)
  for (const [, file = ''] of asset.text.matchAll(/(?:from|import\()"\.\/([^"]+)"/g))
    await closureOf(ASSET_PREFIX + file, found, without)
  return found
}

/** What only the library has that plays playlists. */
const HLS_LIBRARY = '#EXTM3U'

const sizeOf = (files: ReadonlyMap<string, number>) =>
  [...files.values()].reduce((sum, each) => sum + each, 0)

test('every component names what JSX means, whatever the tsconfig.json of the current folder has', () => {
  const files = [...new Glob('src/**/*.tsx').scanSync('.')]
  expect(files.length).toBeGreaterThan(50)
  const first = '/** @jsxRuntime automatic @jsxImportSource preact */\n'
  expect(files.filter(file => !readFileSync(file, 'utf8').startsWith(first))).toEqual([])
})

test('the font is small, has the hash of its content in its name, and the style sheet and every page name it', async () => {
  const path = await fontPath()
  const { bytes } = (await findFont(path)) ?? { bytes: new Uint8Array() }
  expect(bytes.length).toBeWithin(10_000, 40_000)
  expect(new TextDecoder().decode(bytes.slice(0, 4))).toBe('wOF2')
  expect(path).toEndWith(`-${new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)}.woff2`)
  const sheet = (await findAsset(await stylePath('site')))?.text ?? ''
  expect(sheet).toContain(`url(${path})`)
  expect(sheet).not.toContain('data:font')
  expect(sheet).toContain('size-adjust')
  expect(readFileSync('src/site/fonts/OFL.txt', 'utf8')).toContain('SIL OPEN FONT LICENSE Version 1.1')
})

const HOME = ['live-grid', 'just-live', 'featured-channel']

describe('islands', () => {
  for (const name of islands) {
    test(`${name}: the file has one island, with its name, and imports no other`, () => {
      const text = readFileSync(`src/site/islands/${name}.tsx`, 'utf8')
      expect([...text.matchAll(/\bisland\(\s*'([^']+)'/g)].map(([, given]) => given)).toEqual([name])
      expect(text).not.toMatch(/from '\.\/|from '\.\.\/islands\//)
    })
  }

  for (const [page, names, most, without] of [
    ['the home page', HOME, 30_000, HLS_LIBRARY],
    ['the home page, with a video,', HOME, 150_000, undefined],
    ['the page of a channel, with the player', ['player', 'channel-live'], 150_000, undefined],
    ['the page of a video whose recording is a file', ['player'], 30_000, HLS_LIBRARY],
  ] as const)
    test(`${page} loads at most ${most / 1000} KB of compressed script`, async () => {
      const files = new Map<string, number>()
      for (const name of names) await closureOf((await islandScripts(name)).path, files, without)
      expect(sizeOf(files)).toBeLessThanOrEqual(most)
    })

  test('one file has the library, and comes when a playlist is opened', async () => {
    const withLibrary = async (name: string) => {
      const files = await closureOf((await islandScripts(name)).path)
      const texts = [...files.keys()].map(async path => [path, (await findAsset(path))?.text ?? ''] as const)
      return (await Promise.all(texts)).flatMap(([path, text]) => (text.includes(HLS_LIBRARY) ? [path] : []))
    }
    const found = await withLibrary('player')
    expect(found).toHaveLength(1)
    expect([await withLibrary('featured-channel'), await withLibrary('studio-live')]).toEqual([found, found])
    // No script names it in an import that is made at once.
    const path = found[0]?.slice(ASSET_PREFIX.length)
    for (const name of islands)
      for (const file of (await closureOf((await islandScripts(name)).path)).keys())
        expect((await findAsset(file))?.text).not.toContain(`from"./${path}"`)
  })

  test('what plays comes on demand', async () => {
    const { path, imports } = await islandScripts('player')
    const atOnce = await Promise.all(
      [path, ...imports].map(async each => (await findAsset(each))?.gzipped.length ?? 0),
    )
    expect(atOnce.reduce((sum, each) => sum + each, 0)).toBeLessThan(20_000)
  })

  test('the studio loads at most 30 KB of compressed script at once, 150 KB with the preview, and 25 KB for charts', async () => {
    const files = new Map<string, number>()
    const atOnce = new Set<string>()
    for (const name of islands.filter(each => each.startsWith('studio-'))) {
      const { path, imports } = await islandScripts(name)
      for (const each of [path, ...imports]) atOnce.add(each)
      await closureOf(path, files)
    }
    expect(sizeOf(new Map([...atOnce].map(path => [path, files.get(path) ?? 0])))).toBeLessThan(30_000)
    // The library for charts is in a separate file, loaded on demand.
    const withCharts = await Promise.all(
      [...files.keys()].map(async path => ((await findAsset(path))?.text.includes('u-legend') ? [path] : [])),
    )
    expect(withCharts.flat()).toHaveLength(1)
    expect(atOnce.has(withCharts.flat()[0] ?? '')).toBe(false)
    const charts = files.get(withCharts.flat()[0] ?? '') ?? 0
    expect(charts).toBeLessThan(25_000)
    expect(sizeOf(files) - charts).toBeLessThan(150_000)
  })

  test('share one copy of what they render with', async () => {
    const copies = new Set<string>()
    for (const name of islands)
      for (const path of (await closureOf((await islandScripts(name)).path)).keys())
        if (
          (await findAsset(path))?.text.includes('__hooks') ||
          (await findAsset(path))?.text.includes('hydrat')
        )
          copies.add(path)
    expect(copies.size).toBeLessThanOrEqual(1)
  })
})

onEachStore('assets', {}, server => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(server().url + path, { headers, decompress: false } as RequestInit)

  test('200 for a year under their names, compressed for those who can read that', async () => {
    for (const [path, type] of [
      [(await islandScripts('player')).path, 'text/javascript'],
      [await stylePath('site'), 'text/css'],
    ] as const) {
      const text = (await findAsset(path))?.text ?? ''
      const plain = await get(path, { 'Accept-Encoding': 'identity' })
      expect(await plain.text()).toBe(text)
      expect(plain.headers.get('content-encoding')).toBeNull()
      const packed = await get(path, { 'Accept-Encoding': 'br, gzip' })
      expect(packed.headers.get('content-encoding')).toBe('gzip')
      const bytes = new Uint8Array(await packed.arrayBuffer())
      expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(text)
      for (const { headers } of [plain, packed]) {
        expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
        expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        expect(headers.get('vary')).toBe('Accept-Encoding')
        expect(headers.get('x-content-type-options')).toBe('nosniff')
      }
    }
  })

  test('200 the font, for a year, as it is; a page asks for it at once and its policy allows it', async () => {
    const path = await fontPath()
    const answer = await get(path, { 'Accept-Encoding': 'br, gzip' })
    expect(Buffer.from(await answer.arrayBuffer()).equals((await findFont(path))?.bytes ?? Buffer.of())).toBe(
      true,
    )
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, null])
    expect(answer.headers.get('content-type')).toBe('font/woff2')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const page = await get('/login', { Accept: 'text/html' })
    expect(page.headers.get('content-security-policy')).toContain("font-src 'self'")
    expect(await page.text()).toContain(
      `<link rel="preload" as="font" type="font/woff2" crossorigin="anonymous" href="${path}"/>`,
    )
  })

  test('200 uncached under the name of another release, 404 for other assets', async () => {
    for (const path of [
      '/assets/player-01234567.js',
      '/assets/site-01234567.css',
      '/assets/instrument-sans-01234567.woff2',
    ]) {
      const other = await get(path)
      expect([path, other.status, other.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
    }
    for (const path of [
      '/assets/',
      '/assets/player.js',
      '/assets/unheard-of-01234567.js',
      '/assets/part-01234567.js',
      '/assets/__proto__-01234567.js',
      '/assets/site-01234567.js',
      '/assets/site-01234567.woff2',
      '/assets/instrument-sans-01234567.css',
      '/assets/../package.json',
      '/assets',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })
})
