/** Characters that change the direction of text: refused in new titles and names. */
import { describe, expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { onEachStore } from '../support/server/each-store.ts'

const CONTROLS = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069']
const SHOWN = ['title', 'name', 'display_name']

describe('the contract', () => {
  const fields = Object.values(operations).flatMap(({ id, body }) =>
    Object.entries(
      (body as { properties?: Record<string, { pattern?: string }> } | undefined)?.properties ?? {},
    )
      .filter(([name]) => SHOWN.includes(name))
      .map(([name, { pattern }]) => ({ field: `${id}.${name}`, pattern: new RegExp(pattern ?? '') })),
  )

  test('has such fields', () => {
    expect(fields.map(({ field }) => field)).toEqual(
      expect.arrayContaining([
        'ModifyChannelInformation.title',
        'CreateUser.display_name',
        'CreateGame.name',
      ]),
    )
  })

  test.each(fields)('refuses each control in $field', ({ pattern }) => {
    for (const control of CONTROLS) expect(pattern.test(`a${control}b`)).toBe(false)
  })
})

onEachStore('titles and names', {}, server => {
  const change = (path: string, method: string, token: string, body: object) =>
    server().call({ path, method, token, body } as never)

  test('400 malformed_parameter with a directional control, and nothing is changed', async () => {
    const { world } = server()
    const { id, token } = world.broadcaster
    const title = async () =>
      (await server().call({ path: `/helix/channels?broadcaster_id=${id}`, token })).body.data[0].title
    const before = await title()
    for (const control of CONTROLS) {
      const answer = await change(`/helix/channels?broadcaster_id=${id}`, 'PATCH', token, {
        title: `Watch ${control}this`,
      })
      expect([answer.status, answer.problem]).toEqual([400, 'malformed_parameter'])
      expect(answer.body.message).toContain(
        '"title" was malformed: the value must be text without directional',
      )
    }
    expect(await title()).toBe(before)
    const operator = world.operator_token
    for (const [path, body] of [
      ['/control/users', { login: 'turned', display_name: 'de\u202enrut' }],
      ['/control/games', { name: 'de\u202enrut' }],
      ['/control/organizations', { name: 'de\u2067nrut' }],
    ] as const)
      expect((await change(path, 'POST', operator, body)).problem).toBe('malformed_parameter')
  })

  test('204 with text from right to left, marks and joiners', async () => {
    const { id, token } = server().world.broadcaster
    for (const title of ['שלום \u200fעולם', 'مرحبا\u200e', '👩\u200d🚀 family', 'नमस्\u200cते'])
      expect((await change(`/helix/channels?broadcaster_id=${id}`, 'PATCH', token, { title })).status).toBe(
        204,
      )
  })
})
