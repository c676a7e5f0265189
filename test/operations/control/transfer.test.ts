import { expect } from 'bun:test'
import { Compile } from 'typebox/compile'
import { exportLines, ImportEvent, importLines } from '../../../src/contract/control/transfer.ts'
import { TRANSFER_TYPES, type TransferType, transferLines } from '../../../src/contract/resources/transfer.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { usingCheapPasswords } from '../../support/server/cheap-passwords.ts'
import { type Answer, type Ask, startTestServer, type TestServer } from '../../support/server.ts'
import { asOperator, newOrganization, newUser, shownStream, tokenOf, UNKNOWN_UUID, walk } from './operator.ts'

usingCheapPasswords()

// biome-ignore lint/suspicious/noExplicitAny: a line is whatever the server sent; tests look into it freely
type Line = any

const text = (lines: readonly object[]) => lines.map(line => `${JSON.stringify(line)}\n`).join('')
const raw = (server: TestServer, rawBody: string | Uint8Array<ArrayBuffer>, query: Ask['query'] = {}) =>
  send(server, importLines, asOperator(server, { rawBody, query }))
const bringIn = (server: TestServer, lines: readonly object[], query: Ask['query'] = {}) =>
  raw(server, text(lines), query)
const takeOut = async (server: TestServer): Promise<Line[]> =>
  (await send(server, exportLines, asOperator(server))).body
const summaryOf = (answer: Answer) => answer.body.at(-1).summary

let drawn = 0
/** Ids that no other test uses. */
const number = () => String(900_000_000 + ++drawn)
const person = (more: object = {}) => {
  const id = number()
  return { type: 'user', id, login: `reader_${id}`, ...more }
}
const grant = ({ world }: TestServer, more: object = {}) => ({
  type: 'entitlement',
  id: crypto.randomUUID(),
  user_id: world.viewer.id,
  benefit_id: world.benefit.id,
  game_id: world.game.id,
  timestamp: '2026-02-03T04:05:06.700Z',
  ...more,
})

/** The answer of a server that has no folder for what it must keep meanwhile. */
async function withoutSpool({ engine }: TestServer, ask: (server: TestServer) => Promise<Answer>) {
  const server = await startTestServer(engine, { config: { spoolFolder: '/nowhere/at/all' } })
  try {
    return await ask(server)
  } finally {
    await server.stop()
  }
}

describeOperation(exportLines, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  fails('no_room', 'when the lines cannot be kept', server =>
    withoutSpool(server, other => send(other, exportLines, asOperator(other))),
  )

  ok(
    'every line is of a declared type, in the order of types and with the fields of its type',
    async server => {
      const answer = await send(server, exportLines, asOperator(server))
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const lines: Line[] = answer.body
      const order = lines.map(line => TRANSFER_TYPES.indexOf(line.type))
      expect(order).toEqual(order.toSorted((a, b) => a - b))
      for (const line of lines) {
        const schema = transferLines[line.type as TransferType]
        expect([line, Compile(schema).Check(line)]).toEqual([line, true])
        const declared = Object.keys(schema.properties).filter(name => name in line)
        expect(Object.keys(line)).toEqual(declared)
      }
    },
  )

  ok('all that there is', async server => {
    const lines = await takeOut(server)
    const ids = (type: string) => lines.filter(line => line.type === type).map(line => line.id)
    const listed = async (path: string) =>
      (await walk(server, path, { first: 100 })).map(row => row.id).sort()
    expect(ids('user')).toEqual(await listed('/control/users'))
    expect(ids('game')).toEqual(await listed('/control/games'))
    expect(ids('benefit')).toEqual(await listed('/control/benefits'))
    expect(ids('client')).toEqual(await listed('/control/clients'))
    expect(ids('entitlement').toSorted()).toEqual(await listed('/control/entitlements'))
    expect(ids('stream')).toHaveLength(12)
    expect(ids('marker').length).toBeGreaterThan(0)
  })

  ok('no secret', async server => {
    const { text: all } = await send(server, exportLines, asOperator(server))
    expect(all).not.toMatch(/hash|stream_key|live_|argon|secret/)
  })

  ok('an entitlement shows that its user is gone', async server => {
    const user = await newUser(server)
    const line = grant(server, { user_id: user.id })
    await bringIn(server, [line])
    await server.control('DELETE', `/users/${user.id}`)
    const lines = await takeOut(server)
    const found = lines.find(each => each.id === line.id)
    expect(found.user_deleted).toBe(true)
    expect(summaryOf(await bringIn(server, [found])).types.entitlement.unchanged).toBe(1)
  })
})

const valid = (server: TestServer): Ask => asOperator(server, { rawBody: text([person()]) })

/** So much that no test but one reaches it. */
const importBytes = 4 * 1024 * 1024
const importFrame = { valid, server: { config: { importBytes } } }

describeOperation(importLines, importFrame, ({ ok, fails }) => {
  fails('body_too_large', 'when lines without end come in chunks, and nothing of them is kept', server => {
    const lines = new TextEncoder().encode(text(Array.from({ length: 100 }, person)))
    let sent = 0
    const endless = new ReadableStream({
      pull: controller => {
        sent += lines.length
        if (sent > 2 * importBytes) controller.close()
        else controller.enqueue(lines)
      },
    })
    return send(server, importLines, asOperator(server, { rawBody: endless, query: { continue: 'true' } }))
  })

  ok('everything can be made by lines alone, and is what it would be otherwise', async server => {
    const [user, fan, organization] = [person(), person(), crypto.randomUUID()]
    const [game, benefit, video] = [number(), crypto.randomUUID(), number()]
    const [stream, marker] = [number(), 'ab'.repeat(16)]
    const client = `client${number()}`
    const started_at = '2026-02-03T04:00:00Z'
    const answer = await bringIn(server, [
      { type: 'organization', id: organization.toUpperCase(), name: 'Tidepool' },
      user,
      fan,
      { type: 'member', organization_id: organization, user_id: user.id },
      { type: 'game', id: game, name: 'Kelp', organization_id: organization },
      { type: 'benefit', id: benefit, name: 'Lamp', organization_id: organization, game_id: game },
      { type: 'client', id: client, name: 'Shop', organization_id: organization },
      { type: 'channel', user_id: user.id, title: 'Dive', game_id: game, tags: ['Calm'] },
      { type: 'editor', user_id: user.id, editor_id: fan.id },
      { type: 'follow', user_id: fan.id, broadcaster_id: user.id },
      { type: 'video', id: video, user_id: user.id, created_at: started_at },
      { type: 'stream', id: stream, user_id: user.id, video_id: video, started_at, viewer_count: 7 },
      { type: 'marker', id: marker, video_id: video, position_seconds: 5, created_at: started_at },
      {
        ...grant(server),
        user_id: fan.id,
        benefit_id: benefit,
        game_id: game,
        fulfillment_status: 'FULFILLED',
        last_updated: '2026-02-04T00:00:00Z',
      },
    ])
    const summary = summaryOf(answer)
    expect([summary.lines, summary.skipped]).toEqual([14, 0])
    for (const line of answer.body) expect([line, Compile(ImportEvent).Check(line)]).toEqual([line, true])

    await server.settle()
    expect(await shownStream(server, user.id)).toMatchObject({
      id: stream,
      title: 'Dive',
      game_name: 'Kelp',
      viewer_count: 7,
      started_at,
    })
    const followed = await server.call({
      path: '/helix/streams/followed',
      query: { user_id: fan.id },
      token: await tokenOf(server, fan.id),
    })
    expect(followed.body.data.map((row: Line) => row.id)).toEqual([stream])
    const key = await server.call({
      path: '/helix/streams/key',
      query: { broadcaster_id: user.id },
      token: await tokenOf(server, user.id),
    })
    expect(key.body.data[0].stream_key).toStartWith(`live_${user.id}_`)
    const [entitlement] = await walk(server, '/control/entitlements', { user_id: fan.id })
    expect(entitlement).toMatchObject({
      fulfillment_status: 'FULFILLED',
      last_updated: '2026-02-04T00:00:00.000Z',
    })
  })

  ok('sent again it changes nothing, and what was changed is put right', async server => {
    const [user, game] = [person({ display_name: 'Otter' }), { type: 'game', id: number(), name: 'Kelp' }]
    const channel = { type: 'channel', user_id: user.id, title: 'Dive' }
    await bringIn(server, [user, game, channel])
    const again = summaryOf(await bringIn(server, [user, game, channel]))
    expect(again.types).toEqual({
      user: { created: 0, changed: 0, unchanged: 1 },
      game: { created: 0, changed: 0, unchanged: 1 },
      channel: { created: 0, changed: 0, unchanged: 1 },
    })
    await server.control('PATCH', `/channels/${user.id}`, { title: 'Rest' })
    const mended = summaryOf(await bringIn(server, [user, game, channel]))
    expect(mended.types.channel).toEqual({ created: 0, changed: 1, unchanged: 0 })
  })

  ok('of an entitlement the later state wins: an old file takes no fulfilment back', async server => {
    const line = grant(server)
    await bringIn(server, [line])
    const at = (last_updated: string, fulfillment_status: string) =>
      bringIn(server, [{ ...line, last_updated, fulfillment_status }])
    expect(summaryOf(await at('2026-02-05T00:00:00Z', 'FULFILLED')).types.entitlement.changed).toBe(1)
    expect(summaryOf(await at('2026-02-04T00:00:00Z', 'CLAIMED')).types.entitlement.unchanged).toBe(1)
    const [kept] = await walk(server, '/control/entitlements', { id: line.id })
    expect(kept.fulfillment_status).toBe('FULFILLED')
  })

  ok(
    'a stream without a video gets one with the id of the stream, where the channel keeps videos',
    async server => {
      const user = person()
      const stream = { type: 'stream', id: number(), user_id: user.id, started_at: '2026-02-03T04:00:00Z' }
      await bringIn(server, [user, stream])
      expect(summaryOf(await bringIn(server, [stream])).types.stream.unchanged).toBe(1)
      const video = (await takeOut(server)).find(line => line.type === 'video' && line.id === stream.id)
      expect(video).toMatchObject({ user_id: user.id, ended_at: null })
    },
  )

  ok(
    'a video keeps its end if a line does not give one, and loses it if the line gives null',
    async server => {
      const [user, created_at, ended_at] = [person(), '2026-02-03T04:00:00Z', '2026-02-03T05:00:00Z']
      const video = { type: 'video', id: number(), user_id: user.id, created_at }
      await bringIn(server, [user, { ...video, ended_at }])
      expect(summaryOf(await bringIn(server, [video])).types.video.unchanged).toBe(1)
      expect(summaryOf(await bringIn(server, [{ ...video, ended_at: null }])).types.video.changed).toBe(1)
    },
  )

  ok('a password opens the account, and the same one again locks no user out', async server => {
    const user = person({ password: 'a password of nine' })
    await bringIn(server, [user])
    expect(summaryOf(await bringIn(server, [user])).types.user.unchanged).toBe(1)
    const { hash } = {
      hash: (await server.strand.services.store.accounts.credentials(user.login))?.password_hash,
    }
    expect(await Bun.password.verify('a password of nine', hash ?? '')).toBe(true)
  })

  ok('names of users can move on in one file', async server => {
    const [a, b] = [person(), person()]
    await bringIn(server, [a, b])
    const moved = await bringIn(server, [
      { ...a, login: `${a.login}x` },
      { ...b, login: a.login },
      person({ login: b.login }),
    ])
    expect(summaryOf(moved).types.user).toEqual({ created: 1, changed: 2, unchanged: 0 })
  })

  ok('a dry run only checks', async server => {
    const user = person()
    const answer = await bringIn(server, [user], { dry_run: 'true' })
    expect(summaryOf(answer)).toMatchObject({ lines: 1, skipped: 0, dry_run: true, types: {} })
    expect((await server.call(asOperator(server, { path: `/control/users/${user.id}` }))).status).toBe(404)
  })

  ok('with continue the good lines are taken, and each of the others is reported', async server => {
    const [user, other] = [person(), person()]
    const lost = { type: 'follow', user_id: user.id, broadcaster_id: number() }
    const body = `${text([user])}nonsense\n${text([lost, { ...other, login: 'of:no:form' }, other, user])}`
    for (const dry_run of ['true', 'false']) {
      const answer = await raw(server, body, { continue: 'true', dry_run })
      const result = answer.body.flatMap((line: Line) => (line.skipped ? [line.skipped.line] : []))
      expect(result).toEqual([2, 3, 4, 6])
      expect(summaryOf(answer)).toMatchObject({ lines: 6, skipped: 4 })
    }
    expect((await server.call(asOperator(server, { path: `/control/users/${other.id}` }))).status).toBe(200)
  })

  ok('a user whose new login is refused keeps the old one, and no other user gets it', async server => {
    const [a, b] = [person(), person()]
    await bringIn(server, [a, b])
    const body = text([{ ...a, login: b.login }, person({ login: a.login }), person()])
    for (const dry_run of ['true', 'false']) {
      const answer = await raw(server, body, { continue: 'true', dry_run })
      const skipped = answer.body.flatMap((line: Line) => (line.skipped ? [line.skipped] : []))
      expect(skipped.map(({ line }: { line: number }) => line)).toEqual([1, 2])
      for (const { message } of skipped) expect(message).toMatch(/is taken by the user/)
    }
  })

  ok('from_line begins further on, and lines keep their numbers', async server => {
    const body = `nonsense\n${text([person()])}more nonsense\n`
    const answer = await raw(server, body, { from_line: 2, continue: 'true' })
    expect(answer.body.flatMap((line: Line) => (line.skipped ? [line.skipped.line] : []))).toEqual([3])
  })

  ok(
    'an empty body, empty lines, a byte order mark, CRLF and a missing last newline are all right',
    async server => {
      expect(summaryOf(await raw(server, '')).lines).toBe(0)
      const [a, b] = [person(), person()]
      const body = `\ufeff${JSON.stringify(a)}\r\n\r\n\n  \n${JSON.stringify(b)}`
      expect(summaryOf(await raw(server, body))).toMatchObject({ lines: 2, types: { user: { created: 2 } } })
    },
  )

  ok('two imports of the same file at once make it once', async server => {
    const lines = Array.from({ length: 60 }, () => person())
    const grants = lines.map(({ id }) => grant(server, { user_id: id }))
    const answers = await Promise.all([1, 2].map(() => bringIn(server, [...lines, ...grants])))
    const created = answers.map(answer => summaryOf(answer)?.types.entitlement?.created ?? 0)
    expect(created[0] + created[1]).toBe(60)
  })

  /** Wrong lines, and what must be reported about them. Each stands behind a good one, which must not happen. */
  const wrong: Record<string, [line: (server: TestServer) => object | string, message: RegExp]> = {
    'is not JSON': [() => '{"type":', /it is not JSON/],
    'is an array': [() => '[]', /not a JSON object/],
    'contains a NUL': [() => '{"type":"user\0"}', /it is not JSON/],
    'has no type': [() => ({ id: '1' }), /"type" must be one of "organization"/],
    'has an unknown type': [() => ({ type: 'usr' }), /"type" must be one of .* not "usr"/],
    'has an unknown field': [
      () => person({ pasword: 'x' }),
      /"pasword" does not exist; a user has type, id, login/,
    ],
    'has __proto__ as a field': [() => '{"type":"user","__proto__":{}}', /"__proto__" does not exist/],
    'lacks a field': [() => ({ type: 'user', id: '1' }), /"login" is missing/],
    'has a value of another type': [() => person({ display_name: 1 }), /"display_name" .* must be a string/],
    'has a value of another form': [() => person({ login: 'a b' }), /"login" .* 1 to 25 letters/],
    'has a day that is not': [
      () => person({ created_at: '2026-02-30T00:00:00Z' }),
      /does not exist in the calendar/,
    ],
    'has an escaped U+0000': [() => person({ display_name: 'a\0b' }), /"display_name" .* without U\+0000/],
    'has a lone surrogate': [() => person({ display_name: 'a\ud800' }), /"display_name" .* well-formed/],
    'names a user who does not exist': [
      () => ({ type: 'channel', user_id: '1' }),
      /"user_id" names the user "1", which does not exist/,
    ],
    'names what comes later in the file': [
      () => ({ type: 'member', organization_id: UNKNOWN_UUID, user_id: '1' }),
      /names the organization/,
    ],
    'names a benefit that is not there': [
      server => grant(server, { benefit_id: UNKNOWN_UUID }),
      /"benefit_id" names the benefit/,
    ],
    'has a login that is taken': [
      ({ world }) => person({ login: world.broadcaster.login }),
      /the login ".*" is taken by the user/,
    ],
    'has a login that is reserved': [() => person({ login: 'docs' }), /the login "docs" is reserved/],
    'ends before it begins': [
      server => grant(server, { last_updated: '2026-01-01T00:00:00Z' }),
      /"last_updated" .* not be before "timestamp"/,
    ],
    'has the stream key of another user': [
      () => person({ stream_key: `live_1_${'a'.repeat(30)}` }),
      /"stream_key" .* a key of this user/,
    ],
    'is a stream of a channel that is live': [
      ({ world }) => ({
        type: 'stream',
        id: number(),
        user_id: world.broadcaster.id,
        started_at: '2026-02-03T04:00:00Z',
      }),
      /is live with another stream/,
    ],
    'is longer than a line may be': [
      () => person({ display_name: 'x'.repeat(300_000) }),
      /longer than 262144 bytes/,
    ],
  }
  for (const [title, [line, message]] of Object.entries(wrong)) {
    fails('wrong_line', `when a line ${title}`, async server => {
      const good = person()
      const made = line(server)
      const second = typeof made === 'string' ? `${made}\n` : text([made])
      const answer = await raw(server, text([good]) + second + text([person()]))
      expect(answer.body.message).toMatch(/^Line 2: .* Nothing was changed\.$/)
      expect(answer.body.message).toMatch(message)
      expect((await server.call(asOperator(server, { path: `/control/users/${good.id}` }))).status).toBe(404)
      return answer
    })
  }

  fails('no_room', 'when the lines cannot be kept', server =>
    withoutSpool(server, other => bringIn(other, [person()])),
  )

  fails('wrong_line', 'when a line is not UTF-8', server => {
    const bytes = Buffer.concat([Buffer.from(text([person()])), Buffer.from([0x22, 0xff, 0x22, 0x0a])])
    return raw(server, Uint8Array.from(bytes))
  })
  fails('wrong_line', 'when a user occurs twice', server => {
    const user = person()
    return bringIn(server, [user, { ...user, display_name: 'Other' }])
  })
  fails('wrong_line', 'when two users of the file want the same login', server =>
    bringIn(server, [person({ login: 'both_of_us' }), person({ login: 'Both_Of_Us' })]),
  )
  fails('wrong_line', 'when an entitlement exists with other content', async server => {
    const line = grant(server)
    await bringIn(server, [line])
    return bringIn(server, [{ ...line, timestamp: '2026-02-03T04:05:07Z' }])
  })
  fails('wrong_line', 'when a benefit would move to another organization', async server => {
    const { id } = await newOrganization(server)
    return bringIn(server, [{ type: 'benefit', id: server.world.benefit.id, name: 'x', organization_id: id }])
  })
  fails('wrong_line', 'when a video of another user is named', server => {
    const [a, b, video] = [person(), person(), number()]
    const at = '2026-02-03T04:00:00Z'
    return bringIn(server, [
      a,
      b,
      { type: 'video', id: video, user_id: a.id, created_at: at },
      { type: 'stream', id: number(), user_id: b.id, video_id: video, started_at: at },
    ])
  })
  fails('malformed_parameter', 'when from_line is 0', server => raw(server, '', { from_line: 0 }))
  fails('malformed_parameter', 'when continue is neither true nor false', server =>
    raw(server, '', { continue: 'yes' }),
  )
})
