import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf, listProblems, queryParameters } from '../../src/contract/operation.ts'
import { eventsPage } from '../../src/contract/reference/events.ts'
import { markdownReference } from '../../src/contract/reference/markdown.ts'
import { openapiDocument } from '../../src/contract/reference/openapi.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { implementations } from '../../src/operations/index.ts'

const named = (filter: (operation: (typeof operations)[number]) => boolean) =>
  operations.filter(filter).map(operation => operation.id)

describe('the census', () => {
  test('what can be reached without a token', () => {
    expect(named(({ access }) => access.kind === 'open')).toEqual([
      'CreateToken',
      'CreateDeviceCode',
      'ValidateToken',
      'RevokeToken',
      'MintUserToken',
      'GetOpenidConfiguration',
      'GetSigningKeys',
      'CreateOpenidToken',
      'GetUserInfo',
      'SendHeartbeat',
      'GetLatestStreams',
    ])
    expect(named(({ access }) => access.kind === 'anyone')).toEqual([
      'GetStreams',
      'GetDropsCampaigns',
      'GetDropsCampaign',
      'CreatePlaybackSession',
    ])
  })

  test('every control operation needs the operator, and nothing else does', () => {
    for (const operation of operations) {
      expect([operation.id, operation.access.kind === 'operator']).toEqual([
        operation.id,
        familyOf(operation) === 'control',
      ])
    }
  })

  test('what a token opens, as in section 3 of the wire', () => {
    const table = operations.flatMap(({ id, access }) =>
      access.kind === 'token' ? [[id, access.app, access.scopes.join(' ')]] : [],
    )
    expect(table).toEqual([
      ['GetDropsEntitlements', true, 'user:read:entitlements'],
      ['UpdateDropsEntitlements', true, 'user:manage:entitlements'],
      ['GetFollowedStreams', false, 'user:read:follows'],
      ['GetStreamKey', false, 'channel:read:stream_key'],
      ['CreateStreamMarker', false, 'channel:manage:broadcast'],
      ['GetStreamMarkers', false, 'user:read:broadcast channel:manage:broadcast'],
      ['GetUsers', true, ''],
      ['UpdateUser', false, 'user:edit'],
      ['GetGames', true, ''],
      ['SearchCategories', true, ''],
      ['GetVideos', true, ''],
      ['DeleteVideos', false, 'channel:manage:videos'],
      ['GetChannelInformation', true, ''],
      ['ModifyChannelInformation', false, 'channel:manage:broadcast'],
      ['GetFollowedChannels', false, 'user:read:follows'],
      ['GetChannelFollowers', true, ''],
      ['GetChannelEditors', false, 'channel:read:editors'],
      ['GetTopGames', true, ''],
      ['SearchChannels', true, ''],
      ['ExportStreamMarkers', false, 'user:read:broadcast channel:manage:broadcast'],
      ['CreateEventSubSubscription', true, ''],
      ['GetEventSubSubscriptions', true, ''],
      ['DeleteEventSubSubscription', true, ''],
      ['GetDropsProgress', false, 'user:read:drops'],
      ['ClaimDrop', false, 'user:manage:drops'],
    ])
  })

  test('names and routes are unique', () => {
    expect(new Set(operations.map(each => each.id)).size).toBe(operations.length)
    expect(new Set(operations.map(each => `${each.method} ${each.path}`)).size).toBe(operations.length)
  })

  test('no answer could be taken for a refusal', () => {
    const fieldsOf = (schema: unknown) => (schema as { properties?: object } | undefined)?.properties ?? {}
    expect(named(({ returns }) => Object.hasOwn(fieldsOf(returns), 'problem'))).toEqual([])
  })

  test('every operation is implemented, once', () => {
    expect(implementations.map(each => each.operation.id).sort()).toEqual(
      operations.map(each => each.id).sort(),
    )
  })

  test('every operation has a test file that proves it', () => {
    const tests = [...new Glob('test/operations/**/*.test.ts').scanSync('.')]
      .map(file => readFileSync(file, 'utf8'))
      .join('\n')
    const missing = operations.filter(({ id }) => {
      const value = id.charAt(0).toLowerCase() + id.slice(1)
      // By describeOperation, or as one of the operations of describeCrud.
      return !new RegExp(
        `(?:describeOperation\\(\\s*|\\b(?:create|put|patch|get|list|remove): )${value}\\b`,
      ).test(tests)
    })
    expect(missing.map(each => each.id)).toEqual([])
  })

  test('placeholders of a path are declared', () => {
    for (const { id, path, params } of operations) {
      const placeholders = [...path.matchAll(/\{([^}]+)\}/g)].map(match => match[1] ?? '')
      expect([id, Object.keys(params?.properties ?? {})]).toEqual([id, placeholders])
    }
  })

  test('examples are of the declared shape', () => {
    for (const operation of operations) {
      const { example, returns, body } = operation
      if (body !== undefined)
        expect([operation.id, Compile(body).Check(example.body)]).toEqual([operation.id, true])
      if (returns !== undefined) {
        expect([operation.id, Compile(returns).Check(example.answer)]).toEqual([operation.id, true])
      }
      for (const name of Object.keys(example.query ?? {})) {
        expect(queryParameters(operation).properties).toHaveProperty(name)
      }
    }
  })
})

describe('the OpenAPI document', () => {
  const document = openapiDocument({ version: '0', serverUrl: 'http://localhost' }) as {
    openapi: string
    components: object
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>
    webhooks: Record<
      string,
      { post: { requestBody: { content: Record<string, { schema: TSchema; example: unknown }> } } }
    >
  }

  test('has every operation with every status it can answer', () => {
    expect(document.openapi).toStartWith('3.1')
    for (const operation of operations) {
      const described = document.paths[operation.path]?.[operation.method.toLowerCase()]
      expect(described?.operationId).toBe(operation.id)
      expect(Object.keys(described?.responses ?? {})).toContain(String(operation.status ?? 200))
      expect(listProblems(operation).size).toBeGreaterThan(1)
    }
  })

  test('has every type of event as a webhook, with an example of the declared shape', () => {
    expect(Object.keys(document.webhooks)).toEqual(EVENT_TYPES.map(({ type }) => type))
    for (const each of EVENT_TYPES) {
      const { schema, example } = assertDefined(
        document.webhooks[each.type]?.post.requestBody.content['application/json'],
        `the body of ${each.type}`,
      )
      const whole = { components: document.components, ...schema } as unknown as TSchema
      expect([each.type, Compile(whole).Check(example)]).toEqual([each.type, true])
      expect([each.type, Compile(each.event).Check(each.example)]).toEqual([each.type, true])
      expect(eventsPage()).toContain(`\n## ${each.type}\n`)
    }
  })

  test('a file is described by its media types, with an example in the first', () => {
    for (const { id, path, method, answerFile, example } of operations) {
      if (answerFile === undefined) continue
      const success = document.paths[path]?.[method.toLowerCase()]?.responses['200'] as {
        content: Record<string, { example?: unknown }>
      }
      expect([id, Object.keys(success.content)]).toEqual([id, [...answerFile]])
      expect(success.content[answerFile[0] ?? '']?.example).toBe(example.answer)
      const page = markdownReference().get(familyOf({ path })) ?? ''
      const [, section = ''] = page.split(`\n## ${id}\n`)
      const [own = ''] = section.split('\n## ')
      expect(answerFile.filter(type => !own.includes(`\`${type}\``))).toEqual([])
    }
  })
})
