import { expect } from 'bun:test'
import {
  deleteMediaServer,
  getMediaServer,
  listMediaServers,
  putMediaServer,
  rotateMediaServerSecret,
} from '../../../src/contract/control/media-servers.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, naming, newUser, shownStream, walk } from './operator.ts'

const PATH = '/control/media-servers'
let names = 0
const newName = () => `edge-${++names}`

const put = (server: TestServer, name: string, body: object = { adapter: 'generic' }) =>
  send(server, putMediaServer, asOperator(server, { path: `${PATH}/${name}`, body }))
const get = (server: TestServer, name: string) =>
  send(server, getMediaServer, asOperator(server, { path: `${PATH}/${name}` }))
const rotate = (server: TestServer, name: string, body: object = {}) =>
  send(server, rotateMediaServerSecret, asOperator(server, { path: `${PATH}/${name}/rotate-secret`, body }))
const remove = (server: TestServer, name: string) =>
  send(server, deleteMediaServer, asOperator(server, { path: `${PATH}/${name}` }))

async function added(server: TestServer, body?: object): Promise<{ name: string; secret: string }> {
  const name = newName()
  return (await put(server, name, body)).body.data[0]
}

/** A callback with this secret; the event is of no consequence. */
const callback = (
  server: TestServer,
  name: string,
  secret: string,
  body: object = { event: 'end', session: 'x' },
) => fetch(`${server.url}/ingest/generic/${name}/${secret}`, { method: 'POST', body: JSON.stringify(body) })

describeOperation(
  putMediaServer,
  { valid: server => asOperator(server, { path: `${PATH}/${newName()}`, body: { adapter: 'srs' } }) },
  ({ ok, fails }) => {
    ok('the answer to the first call has the secret, and no later one', async server => {
      const name = newName()
      const playback_url = 'https://media.example.org/hls/{login}.m3u8'
      const body = { adapter: 'nginx-rtmp', api_url: 'http://127.0.0.1:8088', playback_url }
      const { body: first } = await put(server, name, body)
      const [{ secret, created_at }] = first.data
      expect(secret).toMatch(/^smed_[A-Za-z0-9]{38}$/)
      expect(first.data).toEqual([{ name, ...body, user_id: null, created_at, secret }])
      const removed = { adapter: 'nginx-rtmp', api_url: null, playback_url: null }
      const { body: second } = await put(server, name, removed)
      expect(second.data).toEqual([{ name, ...removed, user_id: null, created_at }])
      const [row] = await walk(server, '/control/audit', { subject: `media-server/${name}` })
      expect(row.operation).toBe('PutMediaServer')
    })

    ok('omitted fields keep their value', async server => {
      const { id } = await newUser(server)
      const name = newName()
      const values = { api_url: 'http://10.0.0.7:8080', playback_url: '/hls/{login}.m3u8', user_id: id }
      await put(server, name, { adapter: 'generic', ...values })
      await put(server, name, { adapter: 'generic' })
      expect((await get(server, name)).body.data[0]).toMatchObject(values)
    })

    ok(
      'the playlist is a URL or a path with the login, or one for all if there is one channel',
      async server => {
        for (const playback_url of [
          'http://10.0.0.7:8090/hls/{login}.m3u8',
          'https://media.example.org/{login}',
          'https://media.example.org/app/{login}/ts:playlist.m3u8',
          '/hls/{login}/index.m3u8',
        ]) {
          const { body } = await put(server, newName(), { adapter: 'srs', playback_url })
          expect(body.data[0].playback_url).toBe(playback_url)
        }
        const { id } = await newUser(server)
        const one = { adapter: 'generic', playback_url: 'https://media.example.org/hls/stream.m3u8' }
        const { body } = await put(server, newName(), { ...one, user_id: id })
        expect(body.data[0].playback_url).toBe(one.playback_url)
      },
    )

    fails('in_use', 'when the adapter would change', async server => {
      const { name } = await added(server)
      return naming(name, put(server, name, { adapter: 'srs' }))
    })
    fails('unknown_reference', 'when the channel does not exist', server =>
      naming('99999999', put(server, newName(), { adapter: 'generic', user_id: '99999999' })),
    )
    for (const api_url of [
      'http://u:p@10.0.0.7',
      'http://10.0.0.7/?a=1',
      'http://10.0.0.7/#a',
      'http://[/',
    ]) {
      fails('refused_reference', `when the URL is ${api_url}`, server =>
        naming('api_url', put(server, newName(), { adapter: 'srs', api_url })),
      )
    }
    fails('refused_reference', 'when the playlist has a port that does not exist', server =>
      naming(
        'playback_url',
        put(server, newName(), { adapter: 'srs', playback_url: 'https://a.example:99999/{login}' }),
      ),
    )
    fails(
      'refused_reference',
      'when all channels would have the same playlist, and changes nothing',
      async server => {
        const { name } = await added(server)
        const answer = await put(server, name, { adapter: 'generic', playback_url: '/hls/stream.m3u8' })
        expect((await get(server, name)).body.data[0].playback_url).toBeNull()
        return naming('playback_url', Promise.resolve(answer))
      },
    )
    for (const playback_url of [
      '',
      'hls/{login}.m3u8',
      '//media.example.org/{login}.m3u8',
      'ftp://media.example.org/{login}.m3u8',
      'https://{login}.example.org/live.m3u8',
      'https://u:p@media.example.org/{login}.m3u8',
      'https://media.example.org/{login}.m3u8?token=x',
      'https://media.example.org/{login}.m3u8#x',
      'https://media.example.org/{login}/{login}.m3u8',
      'https://media.example.org/{name}/{login}.m3u8',
      'https://media.example.org; script-src */{login}.m3u8',
      'https://a;b.example/{login}.m3u8',
      'https://[::1]/{login}.m3u8',
      'https://media.example.org\\{login}.m3u8',
      '/hls/{login}.m3u8\n',
      `/${'x'.repeat(500)}/{login}.m3u8`,
      7,
    ]) {
      fails('malformed_parameter', `when the playlist is ${JSON.stringify(playback_url)}`, server =>
        naming('playback_url', put(server, newName(), { adapter: 'srs', playback_url })),
      )
    }
    for (const [name, body] of [
      ['Edge', { adapter: 'srs' }],
      ['x'.repeat(41), { adapter: 'srs' }],
      ['edge', { adapter: 'wowza' }],
      ['edge', { adapter: 'srs', api_url: 'file:///etc/passwd' }],
    ] as const) {
      fails('malformed_parameter', `when it is ${name} with ${JSON.stringify(body)}`, server =>
        put(server, name, body),
      )
    }
    fails('missing_parameter', 'without an adapter', server => naming('adapter', put(server, newName(), {})))
  },
)

describeOperation(
  getMediaServer,
  {
    valid: async server => asOperator(server, { path: `${PATH}/${(await added(server)).name}` }),
  },
  ({ ok, fails }) => {
    ok('the media server without its secret', async server => {
      const { name } = await added(server)
      const [row] = (await get(server, name)).body.data
      expect(Object.keys(row).sort()).toEqual([
        'adapter',
        'api_url',
        'created_at',
        'name',
        'playback_url',
        'user_id',
      ])
    })
    fails('name_not_found', 'when there is none', server => naming('nowhere', get(server, 'nowhere')))
  },
)

describeOperation(listMediaServers, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('lists them by name, page by page', async server => {
    for (const name of ['zed', 'amy', 'bob-2', 'bob']) await put(server, name)
    const all = await walk(server, PATH, { first: 100 })
    const found = all.map(each => each.name)
    expect(found).toEqual([...new Set(found)].sort())
    for (const name of ['zed', 'amy', 'bob-2', 'bob']) expect(found).toContain(name)
    expect(await walk(server, PATH, { first: 2 })).toEqual(all)
  })
  fails('malformed_parameter', 'when first is 0', server =>
    send(server, listMediaServers, asOperator(server, { query: { first: 0 } })),
  )
})

describeOperation(
  rotateMediaServerSecret,
  {
    valid: async server =>
      asOperator(server, { path: `${PATH}/${(await added(server)).name}/rotate-secret`, body: {} }),
  },
  ({ ok, fails }) => {
    ok('both secrets are valid for the grace period', async server => {
      const { name, secret } = await added(server)
      const [{ secret: next }] = (await rotate(server, name, { grace_seconds: 600 })).body.data
      expect(next).not.toBe(secret)
      expect((await callback(server, name, next)).status).toBe(200)
      expect((await callback(server, name, secret)).status).toBe(200)
    })
    ok('without a grace period the old one is not', async server => {
      const { name, secret } = await added(server)
      const [{ secret: next }] = (await rotate(server, name, { grace_seconds: 0 })).body.data
      expect((await callback(server, name, next)).status).toBe(200)
      expect((await callback(server, name, secret)).status).toBe(403)
    })
    fails('name_not_found', 'when there is none', server => naming('nowhere', rotate(server, 'nowhere')))
    fails('malformed_parameter', 'when the grace period is negative', async server =>
      rotate(server, (await added(server)).name, { grace_seconds: -1 }),
    )
  },
)

describeOperation(
  deleteMediaServer,
  { valid: async server => asOperator(server, { path: `${PATH}/${(await added(server)).name}` }) },
  ({ ok, fails }) => {
    ok('its secret is invalid within a second, and its publishers have ended', async server => {
      const { name, secret } = await added(server)
      const { id } = await newUser(server)
      const [{ stream_key: key }] = await server.control('POST', `/channels/${id}/stream-key/rotate`, {})
      expect((await callback(server, name, secret, { event: 'publish', session: 'a', key })).status).toBe(200)
      await server.settle()
      expect(await shownStream(server, id)).toBeDefined()
      expectEmpty(await remove(server, name))
      for (let status = 200; status !== 403; await Bun.sleep(50))
        ({ status } = await callback(server, name, secret))
      const answer = await server.call(
        asOperator(server, { method: 'DELETE', path: `/control/channels/${id}/publisher` }),
      )
      expect(answer.problem).toBe('no_publisher')
    })
    fails('name_not_found', 'when there is none', server => naming('nowhere', remove(server, 'nowhere')))
  },
)
