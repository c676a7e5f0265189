/** A row that several operators create at the same time is created once, and the others change it. */
import { expect, test } from 'bun:test'
import { onEachStore } from '../../support/server/each-store.ts'

onEachStore('concurrent puts', {}, server => {
  test('200 for all of them, of every resource that is created by PUT', async () => {
    const headers = { Authorization: `Bearer ${server().world.operator_token}` }
    const id = crypto.randomUUID()
    for (const [path, body] of [
      [`organizations/${id}`, {}],
      ['games/987654', { organization_id: id }],
      [`benefits/${id}`, { organization_id: id }],
      ['users/987654', { login: 'at_once' }],
      ['media-servers/at-once', { adapter: 'srs' }],
    ] as const) {
      const put = (name: string) =>
        fetch(`${server().url}/control/${path}`, {
          method: 'PUT',
          headers,
          body: JSON.stringify(
            path.startsWith('users') ? { ...body, display_name: name } : { ...body, name },
          ),
        })
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map(put))
      expect([path, answers.map(({ status }) => status)]).toEqual([path, [200, 200, 200, 200]])
    }
  })
})
