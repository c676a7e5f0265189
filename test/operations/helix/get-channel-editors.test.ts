import { expect } from 'bun:test'
import { getChannelEditors } from '../../../src/contract/helix/get-channel-editors.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newChannel } from './channels.ts'
import { newUsers, nextSecond } from './follows.ts'
import { type Row, withMessage } from './page-rules.ts'

const SCOPES = ['channel:read:editors']
const ask = (server: TestServer, changes: Ask = {}) => send(server, getChannelEditors, changes)
const ofChannel = ({ id, token }: { id: string; token: string }): Ask => ({
  token,
  query: { broadcaster_id: id },
})
const valid = ({ world }: TestServer): Ask => ofChannel(world.broadcaster)

const addEditor = (server: TestServer, user_id: string, editor_id: string) =>
  server.control('PUT', `/channels/${user_id}/editors/${editor_id}`)

describeOperation(getChannelEditors, { valid }, ({ ok, fails }) => {
  ok('a row has exactly the three fields, and there is no pagination', async server => {
    const channel = await newChannel(server, SCOPES)
    const editor = await newChannel(server)
    await addEditor(server, channel.id, editor.id)
    expect((await ask(server, ofChannel(channel))).body).toEqual({
      data: [
        {
          user_id: editor.id,
          user_name: editor.login,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        },
      ],
    })
  })

  ok('the newest first, then the highest id as a number, all at once', async server => {
    const channel = await newChannel(server, SCOPES)
    const editors = await newUsers(server, 110)
    for (const [index, id] of editors.entries()) {
      if (index % 50 === 0) await nextSecond(server)
      await addEditor(server, channel.id, id)
    }
    const rows: Row[] = (await ask(server, { ...ofChannel(channel), search: 'first=1&after=x&before=x' }))
      .body.data
    expect(rows.map(row => row.user_id).toSorted()).toEqual(editors.toSorted())
    expect(rows).toEqual(
      rows.toSorted((a, b) => {
        if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1
        return BigInt(a.user_id) < BigInt(b.user_id) ? 1 : -1
      }),
    )
    expect(rows[0]?.created_at > rows.at(-1)?.created_at).toBe(true)
  })

  ok('a channel without editors gets an empty list', async server => {
    const channel = await newChannel(server, SCOPES)
    expect((await ask(server, ofChannel(channel))).body).toEqual({ data: [] })
  })

  ok('an editor who is removed or deleted is gone at once', async server => {
    const channel = await newChannel(server, SCOPES)
    const [kept, removed, deleted] = (await newUsers(server, 3)) as [string, string, string]
    for (const id of [kept, removed, deleted]) await addEditor(server, channel.id, id)
    await server.control('DELETE', `/channels/${channel.id}/editors/${removed}`)
    await server.control('DELETE', `/users/${deleted}`)
    const rows: Row[] = (await ask(server, ofChannel(channel))).body.data
    expect(rows.map(row => row.user_id)).toEqual([kept])
  })

  fails('missing_parameter', 'naming broadcaster_id', async server =>
    withMessage(
      await ask(server, { ...valid(server), query: {} }),
      'Missing required parameter "broadcaster_id"',
    ),
  )
  for (const [title, tokenOfOther] of [
    ['a stranger', ({ world }: TestServer) => world.viewer.token],
    ['an editor of the channel', ({ world }: TestServer) => world.editor.token],
  ] as const) {
    fails('identity_mismatch', `when the caller is ${title}`, async server =>
      withMessage(
        await ask(server, { ...valid(server), token: tokenOfOther(server) }),
        "The ID in broadcaster_id must match the user ID found in the request's OAuth token.",
      ),
    )
  }
})
