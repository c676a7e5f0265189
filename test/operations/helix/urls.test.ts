/** Every URL in every answer leads somewhere, as it is and with its placeholders replaced (D-95 to D-99). */
import { expect, test } from 'bun:test'
import { onEachStore } from '../../support/server/each-store.ts'

const TYPES: Readonly<Record<string, string>> = { png: 'image/png', svg: 'image/svg+xml' }

/** The URLs in a JSON value. */
function urlsIn(value: unknown): string[] {
  if (typeof value === 'string') return /^https?:\/\//.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(urlsIn) : []
}

onEachStore('the URLs in answers', { streams: 30 }, current => {
  test('200 each, with the type that its extension stands for', async () => {
    const server = current()
    const { broadcaster, viewer, editor, client, game } = server.world
    const asks = [
      { path: '/helix/streams', query: { first: 100 } },
      { path: '/helix/streams/followed', token: viewer.token, query: { user_id: viewer.id } },
      { path: '/helix/streams/markers', token: broadcaster.token, query: { user_id: broadcaster.id } },
      {
        path: '/helix/users',
        token: client.app_token,
        query: { id: [broadcaster.id, viewer.id, editor.id] },
      },
      { path: '/helix/games', token: client.app_token, query: { id: game.id } },
      { path: '/helix/games/top', token: client.app_token, query: { first: 100 } },
      { path: '/helix/search/categories', token: client.app_token, query: { query: 'e', first: 100 } },
      { path: '/helix/search/channels', token: client.app_token, query: { query: 'a', first: 100 } },
      { path: '/helix/videos', token: client.app_token, query: { user_id: broadcaster.id } },
    ]
    const found = new Set<string>()
    for (const ask of asks) {
      const { status, body } = await server.call(ask)
      expect([ask.path, status]).toEqual([ask.path, 200])
      const urls = urlsIn(body)
      expect([ask.path, urls.length > 0]).toEqual([ask.path, true])
      for (const url of urls) {
        found.add(url)
        found.add(url.replace(/%?\{width\}/, '160').replace(/%?\{height\}/, '90'))
      }
    }
    for (const url of found) {
      const response = await fetch(url)
      const [, extension = ''] = /\.(\w+)(?:\?.*)?$/.exec(new URL(url).pathname) ?? []
      expect([url, response.status]).toEqual([url, 200])
      expect([url, response.headers.get('content-type')]).toEqual([
        url,
        TYPES[extension] ?? 'text/html; charset=utf-8',
      ])
    }
  })
})
