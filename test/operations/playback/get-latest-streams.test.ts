import { expect } from 'bun:test'
import { getLatestStreams } from '../../../src/contract/playback/get-latest-streams.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { newLiveChannel } from '../helix/channels.ts'

interface Listed {
  readonly user_id: string
  readonly started_at: string
}

const latest = async (server: TestServer, query = {}): Promise<Listed[]> =>
  (await send(server, getLatestStreams, { query })).body.data

describeOperation(getLatestStreams, { valid: () => ({ query: { first: 3 } }) }, ({ ok, fails }) => {
  ok('lists live streams as GetStreams does, the latest start first', async server => {
    const streams = await latest(server)
    expect(streams.length).toBeGreaterThan(1)
    const starts = streams.map(({ started_at }) => started_at)
    expect(starts).toEqual(starts.toSorted().reverse())
    const { body } = await server.call({ path: '/helix/streams', query: { user_id: streams[0]?.user_id } })
    expect(streams[0]).toEqual(body.data[0])
  })

  ok('begins with a channel that has just gone live, until its stream ends', async server => {
    const channel = await newLiveChannel(server)
    const firstListed = async () => (await latest(server, { first: 1 }))[0]?.user_id
    await server.settle()
    expect(await firstListed()).toBe(channel.id)
    await server.control('DELETE', `/channels/${channel.id}/stream`)
    await server.settle()
    expect(await firstListed()).not.toBe(channel.id)
  })

  ok('as many as asked for', async server => {
    expect(await latest(server, { first: 2 })).toHaveLength(2)
  })

  for (const first of [0, 21, 'x'])
    fails('malformed_parameter', `when first is ${first}`, server =>
      send(server, getLatestStreams, { query: { first } }),
    )

  ok('costs no point and is not counted with heartbeats', async server => {
    const answer = await send(server, getLatestStreams, { token: 'not-a-token' })
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([200, null])
  })
})
