import { expect, test } from 'bun:test'
import { onEachStore } from '../support/server/each-store.ts'

const channels = Array.from({ length: 60 }, (_, n) => {
  const id = String(7_000_000 + n)
  return { id, login: `crowd_${n}`, stream_key: `live_${id}_${String(n).padStart(30, 'k')}` }
})

onEachStore('a media server that was just added', {}, current => {
  test('may send many publishers at once, and all of them are let in', async () => {
    const server = current()
    const imported = await server.call({
      method: 'POST',
      path: '/control/import',
      token: server.world.operator_token,
      rawBody: channels.map(channel => JSON.stringify({ type: 'user', ...channel })).join('\n'),
    })
    expect(imported.status).toBe(200)
    const [{ secret }] = await server.control('PUT', '/media-servers/edge', { adapter: 'nginx-rtmp' })
    const answers = channels.map(async ({ id, stream_key }) => {
      const { status, headers } = await fetch(`${server.url}/ingest/nginx-rtmp/edge/${secret}`, {
        method: 'POST',
        body: new URLSearchParams({ call: 'publish', addr: '192.0.2.7', clientid: id, name: stream_key }),
        redirect: 'manual',
      })
      return [status, headers.get('location')]
    })
    expect(await Promise.all(answers)).toEqual(channels.map(({ login }) => [302, login]))
  })
})
