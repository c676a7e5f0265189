/** The forms of the reference: a field for everything that an operation accepts, and the request that they make. */
import { describe, expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { familyOf } from '../../src/contract/operation.ts'
import { listInputs } from '../../src/contract/reference/inputs.ts'
import { SCOPES } from '../../src/contract/scope.ts'
import { FORMS, type OperationForm } from '../../src/site/docs/forms.ts'
import { prepare } from '../../src/site/docs/prepare.ts'
import { startTestServer } from '../support/server.ts'

const formOf = (id: string) => FORMS[id] as OperationForm

describe('forms', () => {
  test('every operation has one, with every input', () => {
    for (const operation of operations) {
      const form = formOf(operation.id)
      const names = form.fields.map(field => field.name)
      expect([operation.id, ...listInputs(operation).filter(({ name }) => !names.includes(name))]).toEqual([
        operation.id,
      ])
      expect(new Set(names).size).toBe(names.length)
      expect(form.ways.length).toBeGreaterThan(0)
    }
  })

  test('a token of the site has a scope that the operation requires, and only an operator uses the control API', () => {
    for (const { id, access, ...operation } of operations) {
      const { ways, scopes } = formOf(id)
      if (familyOf(operation) === 'control') expect([id, ways]).toEqual([id, ['paste']])
      if (access.kind !== 'token' || !ways.includes('site')) continue
      expect([id, access.scopes.length === 0 || access.scopes.some(scope => scopes.includes(scope))]).toEqual(
        [id, true],
      )
      expect(scopes.every(scope => SCOPES.includes(scope))).toBe(true)
      expect([id, scopes.length <= 2]).toEqual([id, true])
    }
  })

  test('fields show types, limits and defaults in the words of the contract', () => {
    const first = formOf('GetStreams').fields.find(({ name }) => name === 'first')
    expect(first).toMatchObject({ kind: 'number', place: 'query', type: 'integer, 1 to 100' })
    expect(first?.description).toContain('default: 20')
    expect(formOf('GetStreams').fields.find(({ name }) => name === 'type')?.choices).toEqual(['all', 'live'])
  })
})

describe('a form makes', () => {
  test('a query of what is given, encoded, with lists repeated', () => {
    const made = prepare(formOf('GetStreams'), { user_login: 'a&b\n\n c ', first: ' 2 ', after: '' })
    expect(made).toEqual({
      method: 'GET',
      target: '/helix/streams?user_login=a%26b&user_login=c&first=2',
      headers: {},
      mistakes: {},
    })
  })

  test('a path, which needs its values', () => {
    expect(prepare(formOf('GetUser'), {}).mistakes).toEqual({ user_id: 'The path needs a value.' })
    expect(prepare(formOf('GetUser'), { user_id: 'a/../b' }).target).toBe('/control/users/a%2F..%2Fb')
  })

  test('a JSON body of the right types', () => {
    const { content, headers } = prepare(formOf('ModifyChannelInformation'), {
      broadcaster_id: '1',
      title: 'New "title"',
      tags: 'one\ntwo',
      delay: '5',
      is_branded_content: 'false',
    })
    expect(JSON.parse(content ?? '')).toEqual({
      title: 'New "title"',
      tags: ['one', 'two'],
      delay: 5,
      is_branded_content: false,
    })
    expect(headers).toEqual({ 'Content-Type': 'application/json' })
  })

  test('JSON fields as they are, unless they are no JSON', () => {
    const grants = '[{"user_id": "1"}]'
    expect(JSON.parse(prepare(formOf('GrantEntitlements'), { grants }).content ?? '')).toEqual({
      grants: [{ user_id: '1' }],
    })
    expect(prepare(formOf('GrantEntitlements'), { grants: '[{' }).mistakes).toEqual({
      grants: 'This is not JSON.',
    })
  })

  test('a form for OAuth, lines for an import, and headers', () => {
    const token = prepare(formOf('CreateToken'), { client_id: 'a b', grant_type: 'client_credentials' })
    expect(token.content).toBe('grant_type=client_credentials&client_id=a%20b')
    expect(token.headers).toEqual({ 'Content-Type': 'application/x-www-form-urlencoded' })
    const lines = Object.values(FORMS).find(({ bodyType }) => bodyType === 'lines')
    expect(prepare(lines as OperationForm, { body: '{}\n{}\n\n' })).toMatchObject({
      content: '{}\n{}\n',
      headers: { 'Content-Type': 'application/x-ndjson' },
    })
    const keyed = Object.values(FORMS).find(({ fields }) =>
      fields.some(field => field.name === 'Idempotency-Key'),
    )
    expect(prepare(keyed as OperationForm, { 'Idempotency-Key': ' k ' }).headers).toMatchObject({
      'Idempotency-Key': 'k',
    })
  })
})

test('every form to read something, filled with its example, gets an answer of its operation', async () => {
  const server = await startTestServer('sqlite')
  const { operator_token, broadcaster } = server.world
  for (const form of Object.values(FORMS).filter(each => each.method === 'GET')) {
    const values = Object.fromEntries(form.fields.map(({ name, example }) => [name, example]))
    const { target, headers, mistakes } = prepare(form, values)
    expect([form.id, mistakes]).toEqual([form.id, {}])
    const token = form.family === 'control' ? operator_token : broadcaster.token
    const response = await fetch(server.url + target, {
      headers: { ...headers, ...(form.ways.includes('paste') && { Authorization: `Bearer ${token}` }) },
    })
    const text = await response.text()
    expect([form.id, response.status < 500, /malformed|is not offered/.test(text)]).toEqual([
      form.id,
      true,
      false,
    ])
  }
  await server.stop()
})
