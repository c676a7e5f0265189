import { expect } from 'bun:test'
import { getChannelInformation } from '../../../src/contract/helix/get-channel-information.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newChannel } from './channels.ts'
import { newUsers } from './follows.ts'
import { type Row, withMessage } from './page-rules.ts'

const ask = (server: TestServer, changes: Ask = {}) => send(server, getChannelInformation, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.client.app_token,
  query: { broadcaster_id: world.broadcaster.id },
})
const rowsOf = async (server: TestServer, ids: readonly string[], token = server.world.client.app_token) =>
  (await ask(server, { token, query: { broadcaster_id: ids } })).body.data as Row[]
const idsOf = (rows: readonly Row[]): string[] => rows.map(row => row.broadcaster_id)
const patch = (server: TestServer, id: string, changes: object) =>
  server.control('PATCH', `/channels/${id}`, changes)

describeOperation(getChannelInformation, { valid }, ({ ok, fails }) => {
  ok('a new channel has every field, unset text empty and unset lists empty', async server => {
    const channel = await newChannel(server)
    expect((await ask(server, { ...valid(server), query: { broadcaster_id: channel.id } })).body).toEqual({
      data: [
        {
          broadcaster_id: channel.id,
          broadcaster_login: channel.login,
          broadcaster_name: channel.login,
          broadcaster_language: 'en',
          game_id: '',
          game_name: '',
          title: '',
          delay: 0,
          tags: [],
          content_classification_labels: [],
          is_branded_content: false,
        },
      ],
    })
  })

  ok('all that is set is shown at once', async server => {
    const [id = ''] = await newUsers(server, 1)
    const [game] = await server.control('GET', `/games/${server.world.game.id}`)
    await patch(server, id, {
      title: 'Tide pools',
      game_id: game.id,
      language: 'other',
      tags: ['Relaxed', 'Écume'],
      content_classification_labels: ['Gambling', 'DrugsIntoxication'],
      is_branded_content: true,
    })
    const [row] = await rowsOf(server, [id])
    expect(row).toEqual({
      broadcaster_id: id,
      broadcaster_login: row.broadcaster_name.replace('Proof', 'follow_proof'),
      broadcaster_name: expect.stringMatching(/^Proof_/),
      broadcaster_language: 'other',
      game_id: game.id,
      game_name: game.name,
      title: 'Tide pools',
      delay: 0,
      tags: ['Relaxed', 'Écume'],
      content_classification_labels: ['DrugsIntoxication', 'Gambling'],
      is_branded_content: true,
    })
  })

  ok('MatureGame is listed while the channel is mature, in alphabetical order', async server => {
    const channel = await newChannel(server)
    const labels = async () => (await rowsOf(server, [channel.id]))[0].content_classification_labels
    await patch(server, channel.id, { is_mature: true })
    expect(await labels()).toEqual(['MatureGame'])
    await patch(server, channel.id, { content_classification_labels: ['SexualThemes', 'Gambling'] })
    expect(await labels()).toEqual(['Gambling', 'MatureGame', 'SexualThemes'])
    await patch(server, channel.id, { is_mature: false })
    expect(await labels()).toEqual(['Gambling', 'SexualThemes'])
  })

  ok('delay is 0 unless the user of the token is the broadcaster', async server => {
    const channel = await newChannel(server, [])
    await patch(server, channel.id, { delay: 45 })
    const delayFor = async (token: string) => (await rowsOf(server, [channel.id], token))[0].delay
    expect(await delayFor(channel.token)).toBe(45)
    expect(await delayFor(server.world.client.app_token)).toBe(0)
    expect(await delayFor(server.world.viewer.token)).toBe(0)
    await server.control('PUT', `/channels/${channel.id}/editors/${server.world.viewer.id}`)
    expect(await delayFor(server.world.viewer.token)).toBe(0)
  })

  ok('rows are in the order of the request, each once; what is unknown is absent', async server => {
    const [a, b, c] = (await newUsers(server, 3)) as [string, string, string]
    expect(idsOf(await rowsOf(server, [c, a, b]))).toEqual([c, a, b])
    const odd = ['abc', '999', '-1', '', `0${a}`, ` ${a}`, '9'.repeat(300), '%', "'", 'null']
    expect(idsOf(await rowsOf(server, [b, ...odd, c, b, c, a]))).toEqual([b, c, a])
    const none = await ask(server, { ...valid(server), query: { broadcaster_id: odd } })
    expect(none.body).toEqual({ data: [] })
  })

  ok('100 ids are answered whole, and pages are ignored', async server => {
    const ids = await newUsers(server, 100)
    const answer = await ask(server, {
      ...valid(server),
      query: { broadcaster_id: ids },
      search: 'first=1&after=x&before=x',
    })
    expect(idsOf(answer.body.data)).toEqual(ids)
    expect(Object.keys(answer.body)).toEqual(['data'])
  })

  fails('missing_parameter', 'naming broadcaster_id', async server =>
    withMessage(
      await ask(server, { ...valid(server), search: 'id=1', query: {} }),
      'Missing required parameter "broadcaster_id"',
    ),
  )
  fails('malformed_parameter', 'when there are more than 100 ids', async server =>
    withMessage(
      await ask(server, {
        ...valid(server),
        query: { broadcaster_id: Array.from({ length: 101 }, () => server.world.broadcaster.id) },
      }),
      'The parameter "broadcaster_id" was malformed: the value must be less than or equal to 100',
    ),
  )
  fails('malformed_parameter', 'when an id contains U+0000', server =>
    ask(server, { ...valid(server), query: { broadcaster_id: ['1', 'a\0b'] } }),
  )
})
