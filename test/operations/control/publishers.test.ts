import { expect } from 'bun:test'
import { kickPublisher } from '../../../src/contract/control/channels.ts'
import { RtmpClient } from '../../support/media/rtmp-client.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, naming, newUser, shownStream, walk } from './operator.ts'

const at = (id: string) => `/control/channels/${id}/publisher`
const kick = (server: TestServer, id: string) =>
  send(server, kickPublisher, asOperator(server, { path: at(id) }))

const keyOf = async (server: TestServer, id: string): Promise<string> => {
  const [{ stream_key }] = await server.control('POST', `/channels/${id}/stream-key/rotate`, {})
  return stream_key
}
const publishAs = async (server: TestServer, key: string) => {
  const client = await RtmpClient.connect(server.strand.rtmpPort ?? 0)
  return { client, code: await client.publish(key) }
}
/** A channel that is live through the embedded media server. */
const publishing = async (server: TestServer) => {
  const { id } = await newUser(server)
  const key = await keyOf(server, id)
  const { client } = await publishAs(server, key)
  return { id, key, client }
}

describeOperation(
  kickPublisher,
  {
    valid: async server => asOperator(server, { path: at((await publishing(server)).id) }),
    server: { config: { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 60 } },
  },
  ({ ok, fails }) => {
    ok(
      'the publisher is disconnected, and a return within the grace period continues the stream',
      async server => {
        const { id, key, client } = await publishing(server)
        await server.settle()
        const before = await shownStream(server, id)
        expectEmpty(await kick(server, id))
        await client.closed()
        const again = await publishAs(server, key)
        expect(again.code).toBe('NetStream.Publish.Start')
        await server.settle()
        expect((await shownStream(server, id)).id).toBe(before.id)
        again.client.close()
        const [row] = await walk(server, '/control/audit', { subject: `channel/${id}/publisher` })
        expect(row.operation).toBe('KickPublisher')
      },
    )

    ok('the end of a stream disconnects its publisher at once', async server => {
      const { id, client } = await publishing(server)
      await server.control('DELETE', `/channels/${id}/stream`)
      await server.settle()
      expect(await shownStream(server, id)).toBeUndefined()
      await client.closed()
    })

    ok('with second_publisher take_over a second publisher disconnects the first', async server => {
      const { id, key, client } = await publishing(server)
      await server.settle()
      const before = await shownStream(server, id)
      expect((await publishAs(server, key)).code).toBe('NetStream.Publish.BadName')
      const [channel] = await server.control('PATCH', `/channels/${id}`, { second_publisher: 'take_over' })
      expect(channel).toMatchObject({ second_publisher: 'take_over' })
      const second = await publishAs(server, key)
      expect(second.code).toBe('NetStream.Publish.Start')
      await client.closed()
      await server.settle()
      expect((await shownStream(server, id)).id).toBe(before.id)
      second.client.close()
    })

    ok('a publisher whose user is deleted is disconnected', async server => {
      const { id, client } = await publishing(server)
      expect(client.isClosed).toBe(false)
      await server.control('DELETE', `/users/${id}`)
      await client.closed()
    })

    fails('no_publisher', 'when the channel has no publisher', async server => {
      const { id } = await newUser(server)
      await server.control('PUT', `/channels/${id}/stream`, {})
      return kick(server, id)
    })
    fails('no_publisher', 'the second time', async server => {
      const { id, client } = await publishing(server)
      await kick(server, id)
      await client.closed()
      return kick(server, id)
    })
    fails('not_found', 'when the user does not exist', server => naming('999', kick(server, '999')))
  },
)
