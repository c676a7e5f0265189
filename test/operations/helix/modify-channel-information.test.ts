import { expect } from 'bun:test'
import { modifyChannelInformation } from '../../../src/contract/helix/modify-channel-information.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { goLive, goOffline, type NewChannel, newChannel } from './channels.ts'
import { type Row, withMessage } from './page-rules.ts'

const malformed = (name: string, why: string) => `The parameter "${name}" was malformed: ${why}`
const LABELS_RULE = malformed(
  'content_classification_labels',
  'value must be one of "DebatedSocialIssuesAndPolitics", "DrugsIntoxication", "Gambling", "MatureGame", "ProfanityVulgarity", "SexualThemes", "ViolentGraphic"',
)
const MATURE = "The label MatureGame follows the channel's mature setting and cannot be changed here."
const NOT_PARTNERED = 'the broadcaster is not partnered, failed to set delay'

const ask = (server: TestServer, changes: Ask = {}) => send(server, modifyChannelInformation, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.broadcaster.token,
  query: { broadcaster_id: world.broadcaster.id },
  body: { title: 'First light over the reef' },
})
const modify = (server: TestServer, { id, token }: NewChannel, body: unknown) =>
  ask(server, { token, query: { broadcaster_id: id }, body })
const stored = async (server: TestServer, { id }: NewChannel): Promise<Row> =>
  (await server.control('GET', `/channels/${id}`))[0]
const shown = async (server: TestServer, { id, token }: NewChannel): Promise<Row> =>
  (await server.call({ path: '/helix/channels', token, query: { broadcaster_id: id } })).body.data[0]
const audited = async (server: TestServer, { id }: NewChannel): Promise<Row[]> =>
  server.control('GET', `/audit?subject=channel/${id}&operation=ModifyChannelInformation`)
const feedEnd = async (server: TestServer) => (await server.execute('select seq from feed_head'))[0].seq

/** Must change exactly these fields. */
async function changes(server: TestServer, channel: NewChannel, body: object, expected: object) {
  const before = await stored(server, channel)
  const answer = await modify(server, channel, body)
  expect({ body, status: answer.status, text: answer.text }).toEqual({ body, status: 204, text: '' })
  expect({ body, channel: await stored(server, channel) }).toEqual({
    body,
    channel: { ...before, ...expected },
  })
}

/** Must fail with this message and change nothing, though its other fields are good. */
async function refused(
  server: TestServer,
  channel: NewChannel,
  body: object,
  message: string,
  status = 400,
): Promise<Answer> {
  const before = await stored(server, channel)
  const end = await feedEnd(server)
  const answer = await modify(server, channel, {
    title: 'Never shown',
    broadcaster_language: 'fr',
    is_branded_content: !before.is_branded_content,
    ...body,
  })
  expect({ body, status: answer.status, message: answer.body?.message }).toEqual({ body, status, message })
  expect(await stored(server, channel)).toEqual(before)
  expect(await feedEnd(server)).toEqual(end)
  return answer
}

describeOperation(modifyChannelInformation, { valid }, ({ ok, fails }) => {
  ok('the answer is empty, without a content type', async server => {
    const answer = await ask(server, valid(server))
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([204, '', null])
  })

  ok('each field alone, the others keep their value', async server => {
    const channel = await newChannel(server)
    const { game } = server.world
    await changes(server, channel, { title: 'é'.repeat(140) }, { title: 'é'.repeat(140) })
    await changes(server, channel, { title: '🦦'.repeat(140) }, { title: '🦦'.repeat(140) })
    await changes(server, channel, { game_id: game.id }, { game_id: game.id })
    await changes(server, channel, { broadcaster_language: 'DE' }, { language: 'de' })
    await changes(server, channel, { broadcaster_language: 'Other' }, { language: 'other' })
    await changes(server, channel, { tags: ['Écume', 'Łódź2'] }, { tags: ['Écume', 'Łódź2'] })
    await changes(server, channel, { is_branded_content: true }, { is_branded_content: true })
    await changes(
      server,
      channel,
      { content_classification_labels: ['ViolentGraphic'] },
      { content_classification_labels: ['ViolentGraphic'] },
    )
    await changes(server, channel, { is_branded_content: false }, { is_branded_content: false })
  })

  ok('an empty game_id and "0" clear the game, and a number is accepted', async server => {
    const channel = await newChannel(server)
    const { id } = server.world.game
    for (const clear of ['', '0', 0]) {
      await changes(server, channel, { game_id: Number(id) }, { game_id: id })
      await changes(server, channel, { game_id: clear }, { game_id: '' })
    }
  })

  ok('tags: of those that differ in case the first counts, and [] clears', async server => {
    const channel = await newChannel(server)
    await changes(
      server,
      channel,
      { tags: ['Reef', 'REEF', 'calm', 'reef', 'Calm'] },
      { tags: ['Reef', 'calm'] },
    )
    const ten = Array.from({ length: 10 }, (_, n) => `${'x'.repeat(24)}${n}`)
    await changes(server, channel, { tags: [...ten, ten[0]?.toUpperCase()] }, { tags: ten })
    await changes(server, channel, { tags: [] }, { tags: [] })
  })

  ok('a partner sets a delay as a number or as digits; 0 needs no partner', async server => {
    const channel = await newChannel(server)
    await changes(server, channel, { delay: 0 }, {})
    await changes(server, channel, { delay: '0', title: 'x' }, { title: 'x' })
    await refused(server, channel, { delay: 1 }, NOT_PARTNERED)
    await server.control('PUT', `/users/${channel.id}`, { broadcaster_type: 'affiliate' })
    await refused(server, channel, { delay: '900' }, NOT_PARTNERED)
    await server.control('PUT', `/users/${channel.id}`, { broadcaster_type: 'partner' })
    await changes(server, channel, { delay: 900 }, { delay: 900 })
    await changes(server, channel, { delay: '30' }, { delay: 30 })
    expect((await shown(server, channel)).delay).toBe(30)
    await server.control('PUT', `/users/${channel.id}`, { broadcaster_type: '' })
    await changes(server, channel, { delay: 0 }, { delay: 0 })
  })

  ok('labels that are not named keep their state; the last entry of a label counts', async server => {
    const channel = await newChannel(server)
    const labels = (...now: string[]) => ({ content_classification_labels: now })
    const request = (...requested: unknown[]) => ({ content_classification_labels: requested })
    await changes(
      server,
      channel,
      request('SexualThemes', { id: 'Gambling', is_enabled: true }),
      labels('Gambling', 'SexualThemes'),
    )
    await changes(server, channel, request(), labels('Gambling', 'SexualThemes'))
    await changes(
      server,
      channel,
      request({ id: 'Gambling', is_enabled: false }, 'DebatedSocialIssuesAndPolitics'),
      labels('DebatedSocialIssuesAndPolitics', 'SexualThemes'),
    )
    await changes(
      server,
      channel,
      request(
        { id: 'SexualThemes', is_enabled: true },
        { id: 'SexualThemes', is_enabled: false, name: 'ignored' },
        { id: 'DebatedSocialIssuesAndPolitics', is_enabled: false },
        { id: 'ViolentGraphic', is_enabled: false },
      ),
      labels(),
    )
  })

  ok('the present state of MatureGame is accepted', async server => {
    const channel = await newChannel(server)
    const request = (is_enabled: boolean) => ({
      content_classification_labels: [{ id: 'MatureGame', is_enabled }, 'Gambling'],
    })
    await changes(server, channel, request(false), { content_classification_labels: ['Gambling'] })
    await server.control('PATCH', `/channels/${channel.id}`, { is_mature: true })
    await changes(server, channel, request(true), {})
    await changes(server, channel, { content_classification_labels: ['MatureGame'] }, {})
    await refused(server, channel, request(false), MATURE, 403)
  })

  ok('a client that sends back the whole object it read changes one field', async server => {
    const channel = await newChannel(server)
    await server.control('PATCH', `/channels/${channel.id}`, { is_mature: true, tags: ['Reef'] })
    const read = await shown(server, channel)
    await changes(server, channel, { ...read, title: 'Sent back' }, { title: 'Sent back' })
  })

  ok('null counts as absent, and unknown keys are ignored', async server => {
    const channel = await newChannel(server)
    const body =
      '{"title":"Kept","game_id":null,"broadcaster_language":null,"tags":null,"delay":null,"content_classification_labels":null,"is_branded_content":null,"__proto__":{"tags":["x"]},"constructor":1,"broadcaster_id":"1"}'
    const answer = await ask(server, {
      token: channel.token,
      query: { broadcaster_id: channel.id },
      rawBody: body,
    })
    expect(answer.status).toBe(204)
    expect(await stored(server, channel)).toMatchObject({
      title: 'Kept',
      tags: [],
      game_id: '',
      language: 'en',
    })
  })

  ok(
    'a running stream and its video show the change at once; an ended video keeps what it had',
    async server => {
      const channel = await newChannel(server)
      const { game } = server.world
      await goLive(server, channel.id)
      const live = async (): Promise<Row> =>
        (await server.call({ path: '/helix/streams', query: { user_id: channel.id } })).body.data[0]
      const video = async () =>
        (
          await server.execute(
            `select title, language, coalesce(game_id, '') as game_id from videos where user_id = '${channel.id}'`,
          )
        )[0]
      const facts = { title: 'Now live', language: 'pt', game_id: game.id }
      await modify(server, channel, {
        title: facts.title,
        broadcaster_language: facts.language,
        game_id: facts.game_id,
        tags: ['Live'],
      })
      expect(await live()).toMatchObject({ ...facts, tags: ['Live'] })
      expect(await video()).toEqual(facts)
      await goOffline(server, channel.id)
      await modify(server, channel, { title: 'Afterwards', game_id: '' })
      expect(await video()).toEqual(facts)
    },
  )

  ok('a change is recorded with the user as the actor', async server => {
    const channel = await newChannel(server)
    await modify(server, channel, { title: 'Recorded', tags: ['One'] })
    const [entry, ...more] = await audited(server, channel)
    expect(more).toEqual([])
    expect(entry).toMatchObject({
      actor: `user/${channel.id}`,
      before: { title: '', tags: [] },
      after: { title: 'Recorded', tags: ['One'] },
    })
  })

  ok('a call that changes nothing is not recorded, and no event is sent', async server => {
    const channel = await newChannel(server)
    await goLive(server, channel.id)
    await modify(server, channel, { title: 'Once', tags: ['One'] })
    const end = await feedEnd(server)
    for (const body of [
      { title: 'Once' },
      { tags: ['One'], delay: 0, is_branded_content: false },
      { content_classification_labels: [{ id: 'Gambling', is_enabled: false }] },
      await shown(server, channel),
    ]) {
      expect((await modify(server, channel, body)).status).toBe(204)
    }
    expect(await audited(server, channel)).toHaveLength(1)
    expect(await feedEnd(server)).toEqual(end)
  })

  ok('concurrent changes of different fields all last', async server => {
    const channel = await newChannel(server)
    const answers = await Promise.all([
      modify(server, channel, { title: 'Together' }),
      modify(server, channel, { tags: ['Together'] }),
      modify(server, channel, { broadcaster_language: 'nl' }),
      modify(server, channel, { is_branded_content: true }),
      modify(server, channel, { content_classification_labels: ['Gambling'] }),
    ])
    expect(answers.map(answer => answer.status)).toEqual([204, 204, 204, 204, 204])
    expect(await stored(server, channel)).toMatchObject({
      title: 'Together',
      tags: ['Together'],
      language: 'nl',
      is_branded_content: true,
      content_classification_labels: ['Gambling'],
    })
  })

  const badFields: readonly (readonly [title: string, body: object, message: string])[] = [
    ['title is empty', { title: '' }, malformed('title', 'the value must be at least 1 characters')],
    [
      'title has 141 characters',
      { title: '🦦'.repeat(141) },
      malformed('title', 'the value must be at most 140 characters'),
    ],
    [
      'broadcaster_language is a word',
      { broadcaster_language: 'english' },
      malformed('broadcaster_language', 'the value must be an ISO 639-1 code of two letters, or "other"'),
    ],
    [
      'broadcaster_language is empty',
      { broadcaster_language: '' },
      malformed('broadcaster_language', 'the value must be an ISO 639-1 code of two letters, or "other"'),
    ],
    [
      'a tag has a space',
      { tags: ['ok', 'not ok'] },
      malformed('tags', 'the tag "not ok" must be 1 to 25 letters or digits'),
    ],
    ['a tag is empty', { tags: [''] }, malformed('tags', 'the tag "" must be 1 to 25 letters or digits')],
    [
      'a tag has 26 characters',
      { tags: ['x'.repeat(26)] },
      malformed('tags', `the tag "${'x'.repeat(26)}" must be 1 to 25 letters or digits`),
    ],
    [
      'there are 11 tags',
      { tags: Array.from({ length: 11 }, (_, n) => `tag${n}`) },
      malformed('tags', 'the value must have at most 10 entries'),
    ],
    ['a tag is a number', { tags: [1] }, malformed('tags', 'the value must be a string')],
    ['delay is negative', { delay: -1 }, malformed('delay', 'the value must be greater than or equal to 0')],
    ['delay is 901', { delay: 901 }, malformed('delay', 'the value must be less than or equal to 900')],
    ['delay is "901"', { delay: '901' }, malformed('delay', 'the value must be less than or equal to 900')],
    ['delay is a fraction', { delay: 1.5 }, malformed('delay', 'the value must be an integer')],
    ['delay is text', { delay: 'soon' }, malformed('delay', 'the value must be an integer')],
    ['delay is empty', { delay: '' }, malformed('delay', 'the value must be an integer')],
    ['a label is unknown', { content_classification_labels: ['Gambling', 'Knitting'] }, LABELS_RULE],
    [
      'a label to switch off is unknown',
      { content_classification_labels: [{ id: 'gambling', is_enabled: false }] },
      LABELS_RULE,
    ],
    ['a label is a name of the language', { content_classification_labels: ['constructor'] }, LABELS_RULE],
    ...[7, null, { id: 'Gambling' }, { id: 'Gambling', is_enabled: 'yes' }, [], { is_enabled: true }].map(
      label =>
        [
          `a label is ${JSON.stringify(label)}`,
          { content_classification_labels: [label] },
          malformed(
            'content_classification_labels',
            'the value must be a label id, or an object with id and is_enabled',
          ),
        ] as const,
    ),
    [
      'is_branded_content is text',
      { is_branded_content: 'true' },
      malformed('is_branded_content', 'the value must be true or false'),
    ],
  ]
  for (const [title, body, message] of badFields) {
    fails('malformed_parameter', `when ${title}; nothing changes`, async server =>
      refused(server, await newChannel(server), body, message),
    )
  }
  for (const game_id of ['999', 'abc', '00', ' ', '9'.repeat(300)]) {
    fails('invalid_game_id', `when game_id is "${game_id.slice(0, 5)}"; nothing changes`, async server =>
      refused(server, await newChannel(server), { game_id }, 'invalid game_id'),
    )
  }
  fails('not_partnered', 'when another broadcaster than a partner sets a delay', async server =>
    refused(server, await newChannel(server), { delay: 1 }, NOT_PARTNERED),
  )
  fails('mature_label_fixed', 'when MatureGame is switched on', async server =>
    refused(server, await newChannel(server), { content_classification_labels: ['MatureGame'] }, MATURE, 403),
  )
  for (const [title, body] of [
    ['is empty', {}],
    ['has unknown keys only', { broadcaster_id: '1', channel: 'x' }],
    ['has nulls only', { title: null, tags: null }],
  ] as const) {
    fails('nothing_to_update', `when the body ${title}`, async server =>
      withMessage(
        await ask(server, { ...valid(server), body }),
        'The request must update at least one channel property field.',
      ),
    )
  }
  fails('nothing_to_update', 'when there is no body', ({ world, ...server }) =>
    ask({ world, ...server }, { ...valid({ world, ...server }), body: undefined }),
  )
  fails('missing_parameter', 'naming broadcaster_id, even if the body has it', async server =>
    withMessage(
      await ask(server, { ...valid(server), query: {}, body: { broadcaster_id: '1', title: 'x' } }),
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
  fails('malformed_parameter', 'the body is checked before the identity', server =>
    ask(server, { ...valid(server), query: { broadcaster_id: '999' }, body: { title: '' } }),
  )
  fails('nothing_to_update', 'an empty body is refused before the identity', server =>
    ask(server, { ...valid(server), query: { broadcaster_id: '999' }, body: {} }),
  )
})
