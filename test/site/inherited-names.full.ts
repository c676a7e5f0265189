/** Words that every object has, where a request chooses one of ours: they are as unknown as any other. */
import { expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { familyOf, type Operation } from '../../src/contract/operation.ts'
import { authorizeLink, loggedIn, register } from '../support/browser/consent.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'

const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'] as const

usingCheapPasswords()

onEachStore('names that every object has', { config: { signUp: true } }, server => {
  test.each(INHERITED)('200 the account page takes %s for nothing that was done', async name => {
    const person = await loggedIn(server())
    const plain = await person.open('/account?done=nonsense')
    const seen = await person.open(`/account?done=${name}`)
    expect(seen.status).toBe(200)
    expect(seen.html).toBe(plain.html)
  })

  test.each(INHERITED.filter(name => /^[a-z_]+$/.test(name)))(
    '200 the consent page knows no scope %s',
    async name => {
      const { id } = await register(server())
      const person = await loggedIn(server())
      const seen = await person.browse(authorizeLink(id, { scope: name }))
      expect(seen.status).toBe(200)
      expect(seen.html).toContain(`${name}: has no effect on this server`)
    },
  )

  test('200 a person may be called so', async () => {
    for (const login of ['constructor', '__proto__']) {
      const person = new Person(server())
      await person.browse('/signup')
      expect((await person.submit('/signup', { login, password: 'long enough' })).html).toContain(login)
      await person.submit('/logout')
      await person.browse('/login')
      expect((await person.submit('/login', { login, password: 'wrong enough' })).status).toBe(401)
      expect((await person.submit('/login', { login, password: 'long enough' })).status).toBe(200)
    }
  })

  test.each(INHERITED)('no parameter of any operation makes %s a failure of ours', async name => {
    const { world } = server()
    const tokenFor = (operation: Operation) =>
      familyOf(operation) === 'control' ? world.operator_token : world.broadcaster.token
    // What clears or moves the world under the other tests is not asked, nor what takes lines.
    const asked = operations.filter(each => !each.demoOnly && !('bodyLines' in each))
    for (const operation of asked) {
      const fields = (schema: { properties: object } | undefined) =>
        Object.fromEntries(Object.keys(schema?.properties ?? {}).map(key => [key, name]))
      const { status } = await server().call({
        method: operation.method,
        path: operation.path.replaceAll(/\{\w+\}/g, name),
        query: fields(operation.query),
        ...(operation.body && { body: fields(operation.body) }),
        token: tokenFor(operation),
      })
      expect([operation.id, status < 500]).toEqual([operation.id, true])
    }
  })
})
