/** The OpenAPI document: standard keywords, valid examples, and what each server shows of itself. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Check, Compile, Errors } from 'typebox/schema'
import { operations } from '../../src/contract/index.ts'
import { familyOf } from '../../src/contract/operation.ts'
import { openapiDocument, PUBLIC_FAMILIES } from '../../src/contract/reference/openapi.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is whatever JSON it is; tests look into it freely
type Json = any

const options = { version: '1.2.3', serverUrl: 'http://localhost:8080' }
const whole: Json = openapiDocument(options)
const operationOf = (document: Json, id: string): Json =>
  methodsOf(document).find(each => each.operationId === id)

function methodsOf(document: Json): Json[] {
  return Object.values(document.paths as Json).flatMap((item: Json) =>
    Object.values(item).filter((each: Json) => each.operationId !== undefined),
  )
}

/** Every object in the document, with the key that it is under. */
function* objectsIn(value: Json, key = ''): Generator<[key: string, object: Json]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [key, value]
  for (const [name, each] of Object.entries(value)) yield* objectsIn(each, name)
}

/** The applicators of JSON Schema that the document uses, by what they hold. */
const HOLDS_ONE = ['items', 'additionalProperties', 'contentSchema']
const HOLDS_LIST = ['anyOf', 'oneOf']

function* schemasUnder(schema: Json): Generator<Json> {
  yield schema
  for (const name of HOLDS_ONE) if (schema[name] !== undefined) yield* schemasUnder(schema[name])
  for (const name of HOLDS_LIST) for (const each of schema[name] ?? []) yield* schemasUnder(each)
  for (const each of Object.values(schema.properties ?? {})) yield* schemasUnder(each)
}

function* schemasIn(document: Json): Generator<Json> {
  for (const each of Object.values(document.components.schemas)) yield* schemasUnder(each)
  for (const [, object] of objectsIn({ ...document, components: { ...document.components, schemas: {} } }))
    if (object.schema !== undefined) yield* schemasUnder(object.schema)
}

/** Of JSON Schema 2020-12, and `discriminator` of OpenAPI 3.1. */
const KEYWORDS = new Set([
  '$ref',
  'type',
  'format',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'discriminator',
  'properties',
  'additionalProperties',
  'required',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'description',
  'examples',
  'writeOnly',
  'contentMediaType',
  'contentSchema',
  'x-strand-refers-to',
])

const withComponents = (schema: Json): Json => ({ components: whole.components, ...schema })
const validator = (schema: Json) => Compile(withComponents(schema))

/** Schemas and values that were checked: most operations have the same failures. */
const valid = new Set<string>()

function expectValid(where: string, schema: Json, value: unknown): void {
  const both = JSON.stringify([schema, value])
  if (valid.has(both)) return
  const complete = withComponents(schema)
  expect([where, value, Check(complete, value) || Errors(complete, value)[1]]).toEqual([where, value, true])
  valid.add(both)
}

describe('the OpenAPI document', () => {
  test('schemas have keywords of JSON Schema 2020-12 only, and integers a format', () => {
    const found = new Set<string>()
    for (const schema of schemasIn(whole)) {
      for (const keyword of Object.keys(schema)) found.add(keyword)
      if (schema.type === 'integer') expect(schema.format).toMatch(/^int(32|64)$/)
      if (schema.enum !== undefined) expect(schema.type).toBe('string')
    }
    expect([...found].filter(keyword => !KEYWORDS.has(keyword))).toEqual([])
    expect([...KEYWORDS].filter(keyword => !found.has(keyword))).toEqual([])
  })

  test('docs/openapi.md lists its extensions, and no others', () => {
    const used = new Set<string>()
    for (const [, object] of objectsIn(whole))
      for (const name of Object.keys(object)) if (name.startsWith('x-')) used.add(name)
    const listed = readFileSync('docs/openapi.md', 'utf8').matchAll(/^\| `(x-[a-z-]+)` \|/gm)
    expect([...listed].map(([, name]) => name).sort()).toEqual([...used].sort())
  })

  test('resources have names, and every name a description', () => {
    const { schemas } = whole.components
    const resources = ['Entitlement', 'EntitlementUpdate', 'Stream', 'StreamKey', 'StreamMarker', 'Profile']
    for (const name of [...resources, 'PublicVideo', 'Category', 'ChannelInformation', 'User', 'Pagination'])
      expect(Object.keys(schemas)).toContain(name)
    for (const [name, { description }] of Object.entries<Json>(schemas))
      expect([name, description]).toEqual([name, expect.stringMatching(/\.$/)])
    const { items } = successOf('GetDropsEntitlements').properties.data
    expect(items).toEqual({ $ref: '#/components/schemas/Entitlement' })
    expect(schemas.Entitlement.properties.id.format).toBe('uuid')
    expect(schemas.Entitlement.properties.timestamp.format).toBe('date-time')
    expect(schemas.Stream.properties.thumbnail_url.format).toBe('uri-template')
    expect(schemas.Profile.properties.profile_image_url.format).toBe('uri')
  })

  const successOf = (id: string): Json =>
    operationOf(whole, id).responses[200].content['application/json'].schema

  test('every example is valid: of requests, parameters, answers, failures and fields', () => {
    let checked = 0
    for (const [key, { schema, example, examples }] of objectsIn(whole)) {
      if (schema === undefined) continue
      const named = Object.values<Json>(examples ?? {}).map(({ $ref }) => resolve($ref).value)
      for (const each of [...(example === undefined ? [] : [example]), ...named]) {
        expectValid(key, schema, each)
        checked += 1
      }
    }
    for (const schema of schemasIn(whole))
      for (const each of schema.examples ?? []) expectValid('a field', schema, each)
    expect(checked).toBeGreaterThan(400)
  })

  const resolve = (reference: string): Json =>
    reference
      .split('/')
      .slice(1)
      .reduce((at, step) => at[step], whole)

  test('security: the kind of token and its scopes, for every operation', () => {
    const securityOf = (id: string) => operationOf(whole, id).security
    const app = { appToken: [] }
    const user = (scope: string) => ({ userToken: [scope] })
    expect(securityOf('GetDropsEntitlements')).toEqual([app, user('user:read:entitlements')])
    expect(securityOf('GetStreamMarkers')).toEqual([
      user('user:read:broadcast'),
      user('channel:manage:broadcast'),
    ])
    expect(securityOf('GetStreams')).toEqual([{}, app, { userToken: [] }])
    expect(securityOf('GetUsers')).toEqual([app, { userToken: [] }])
    expect(securityOf('ValidateToken')).toEqual([app, { userToken: [] }])
    expect(securityOf('GetUserInfo')).toEqual([user('openid')])
    expect(securityOf('CreateToken')).toEqual([])
    expect(securityOf('CreateOpenidToken')).toEqual([{}, { clientSecret: [] }])
    const { securitySchemes } = whole.components
    const scopes = Object.keys(securitySchemes.userToken.flows.authorizationCode.scopes)
    for (const { operationId, tags, security, parameters } of methodsOf(whole)) {
      if (tags[0] === 'control')
        expect([operationId, security]).toEqual([operationId, [{ operatorToken: [] }]])
      for (const [scheme, needed] of security.flatMap((each: Json) => Object.entries(each))) {
        expect(Object.keys(securitySchemes)).toContain(scheme)
        expect(needed.filter((scope: string) => !scopes.includes(scope))).toEqual([])
      }
      const hasClientId = parameters.some((each: Json) => each.$ref?.endsWith('/Client-Id'))
      expect([operationId, hasClientId]).toEqual([operationId, ['helix', 'drops'].includes(tags[0])])
    }
  })

  test('the token call: what each grant needs', () => {
    const schemaOf = (id: string) =>
      operationOf(whole, id).requestBody.content['application/x-www-form-urlencoded'].schema
    const client = { client_id: 'a', client_secret: 'b' }
    const device = 'urn:ietf:params:oauth:grant-type:device_code'
    const right: Json[] = [
      { grant_type: 'client_credentials', ...client },
      { grant_type: 'authorization_code', client_id: 'a', code: 'c', redirect_uri: 'http://localhost' },
      { grant_type: 'refresh_token', ...client, refresh_token: 'r' },
      { grant_type: device, client_id: 'a', device_code: 'd' },
    ]
    const token = validator(schemaOf('CreateToken'))
    const openid = validator(schemaOf('CreateOpenidToken'))
    for (const body of right) {
      expect([body, token.Check(body), openid.Check(body)]).toEqual([body, true, true])
      const needed = Object.keys(body).filter(
        name => name !== 'client_secret' || body.grant_type === 'client_credentials',
      )
      for (const name of needed) {
        const { [name]: _, ...less } = body
        expect([less, token.Check(less)]).toEqual([less, false])
        expect(openid.Check(less)).toBe(name.startsWith('client_'))
      }
    }
    expect(token.Check({ grant_type: 'password', ...client })).toBe(false)
    expect(Object.keys(schemaOf('CreateToken').discriminator.mapping)).toEqual(
      right.map(({ grant_type }) => grant_type),
    )
    expect(validator(schemaOf('RevokeToken')).Check({ client_id: 'a' })).toBe(false)
  })

  test('parameters: an empty optional one is allowed, and each has a description', () => {
    for (const { operationId, parameters } of methodsOf(whole)) {
      for (const { name, in: place, required, description, allowEmptyValue } of parameters) {
        if (name === undefined) continue
        expect([operationId, name, typeof description]).toEqual([operationId, name, 'string'])
        if (required || place !== 'query') expect(allowEmptyValue).toBeUndefined()
      }
    }
    const { parameters } = operationOf(whole, 'GetStreams')
    for (const each of parameters.slice(1))
      expect([each.name, each.allowEmptyValue]).toEqual([each.name, true])
  })

  test('the public document has every operation but those of the control API, and no trace of them', () => {
    const document: Json = openapiDocument({ ...options, families: PUBLIC_FAMILIES })
    expect(methodsOf(document).map(each => each.operationId)).toEqual(
      operations.filter(each => familyOf(each) !== 'control').map(each => each.id),
    )
    expect(JSON.stringify(document)).not.toContain('/control/')
    expect(JSON.stringify(document)).not.toMatch(/operatorToken|operator_required|AuditEntry/)
    for (const each of [document, whole]) expect(JSON.stringify(each)).not.toContain('undefined')
  })
})

const bodySchema = (id: string) => operationOf(whole, id).requestBody.content['application/json'].schema

describe('what a server shows of itself', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { operatorListen: { host: '127.0.0.1', port: 0 } } })
  })
  afterAll(() => server.stop())

  const read = async (url: string): Promise<Json> => (await fetch(url)).json()
  const tagsOf = (document: Json) => new Set(methodsOf(document).map(each => each.tags[0]))

  test('200 the public listener shows the public API, to pages of other sites too', async () => {
    const response = await fetch(`${server.url}/openapi.json`)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const document: Json = await response.json()
    expect(tagsOf(document)).toEqual(new Set(PUBLIC_FAMILIES))
    expect(document.servers).toEqual([{ url: server.url }])
    expect((await fetch(`${server.url}/control/openapi.json`)).status).toBe(404)
  })

  test('200 the operator listener shows everything, with the address of each side', async () => {
    const { controlUrl } = server.strand
    const operatorUrl = new URL(controlUrl).origin
    const response = await fetch(`${operatorUrl}/openapi.json`)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const document: Json = await response.json()
    expect(tagsOf(document)).toEqual(new Set([...PUBLIC_FAMILIES, 'control']))
    expect(document.servers).toEqual([{ url: server.url }])
    expect(document.paths['/control/users'].servers).toEqual([{ url: operatorUrl }])
    expect(document.paths['/helix/streams'].servers).toBeUndefined()
    expect(await read(`${operatorUrl}/control/openapi.json`)).toEqual(document)
  })
})

describe('on one listener', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite')
  })
  afterAll(() => server.stop())

  test('200 /openapi.json is public, /control/openapi.json is everything; 404 through a proxy', async () => {
    const url = `${server.url}/control/openapi.json`
    const read = async (from: string): Promise<Json> => (await fetch(from)).json()
    expect(JSON.stringify(await read(`${server.url}/openapi.json`))).not.toContain('/control/')
    expect(methodsOf(await read(url))).toHaveLength(operations.length)
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(url, { method: 'POST' })).status).toBe(404)
    expect((await fetch(url, { headers: { 'X-Forwarded-For': '203.0.113.9' } })).status).toBe(404)
  })

  test('204, 200 what is accepted leniently is valid by the document', async () => {
    const { broadcaster } = server.world
    const change = { title: 'Night dive', game_id: 0, delay: '0', tags: null, is_branded_content: null }
    expectValid('ModifyChannelInformation', bodySchema('ModifyChannelInformation'), change)
    const changed = await server.call({
      method: 'PATCH',
      path: '/helix/channels',
      query: { broadcaster_id: broadcaster.id },
      body: change,
      token: broadcaster.token,
    })
    expect([changed.status, changed.text]).toEqual([204, ''])
    const marker = { user_id: Number(broadcaster.id), description: null }
    expectValid('CreateStreamMarker', bodySchema('CreateStreamMarker'), marker)
    const path = '/helix/streams/markers'
    const made = await server.call({ method: 'POST', path, body: marker, token: broadcaster.token })
    expect(made.status).toBe(200)
    expect(operationOf(whole, 'CreateStreamMarker').requestBody['x-strand-also-in']).toBe('query')
    const query = { user_id: broadcaster.id }
    const inQuery = await server.call({ method: 'POST', path, query, token: broadcaster.token })
    expect(inQuery.status).toBe(200)
    expect(operationOf(whole, 'GetStreamMarkers')['x-strand-exactly-one']).toEqual(['user_id', 'video_id'])
  })
})

describe('modes', () => {
  test('without demo mode, the operations of the demo are left out', () => {
    const all = methodsOf(openapiDocument({ ...options, demo: false })).map(each => each.operationId)
    expect(all.sort()).toEqual(
      operations
        .filter(each => !each.demoOnly)
        .map(each => each.id)
        .sort(),
    )
    expect(operationOf(whole, 'ResetWorld')['x-strand-demo-only']).toBe(true)
  })

  test('in strict mode Client-Id and a token are required, and its problems are declared', () => {
    const strict: Json = openapiDocument({ ...options, strict: true })
    expect(whole.components.parameters['Client-Id'].required).toBe(false)
    expect(strict.components.parameters['Client-Id'].required).toBe(true)
    expect(operationOf(strict, 'GetStreams').security).toEqual([{ appToken: [] }, { userToken: [] }])
    expect(operationOf(strict, 'GetStreams').responses[400].description).toContain('malformed_logins')
    expect(operationOf(whole, 'GetStreams').responses[400].description).not.toContain('malformed_logins')
    expect(operationOf(whole, 'GetStreams')['x-strand-strict']).toHaveLength(2)
  })
})
