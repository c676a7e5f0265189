import type { TSchema } from 'typebox'
import type { EventType } from '../contract/events/event-type.ts'
import { EVENT_TYPES } from '../contract/events/event-types.ts'
import { exampleNotification, notificationSchema } from '../contract/events/notification.ts'
import { operations } from '../contract/index.ts'
import { type Family, familyOf, type Operation, problemsOf } from '../contract/operation.ts'
import { type ProblemName, problems, reasonPhrases } from '../contract/problem.ts'
import { inputsOf } from './inputs.ts'

type Json = Record<string, unknown>

/** The contract as an OpenAPI 3.1 document. Its schemas are JSON Schema already. */
export function openapiDocument(options: { version: string; serverUrl: string }): Json {
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const entry = paths[operation.path] ?? {}
    paths[operation.path] = { ...entry, [operation.method.toLowerCase()]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Strand',
      version: options.version,
      summary: 'The API of a streaming platform: drops entitlements, live streams, stream keys and markers.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.serverUrl }],
    tags: [
      { name: 'helix', description: 'The public API. Also served under /mock.' },
      { name: 'oauth', description: 'OAuth 2 and OpenID Connect. Also served under /auth.' },
      { name: 'playback', description: 'For players: sessions that count viewers.' },
      { name: 'control', description: 'The control API, for operators.' },
      { name: 'events', description: 'What subscribers receive.' },
    ],
    paths,
    webhooks: Object.fromEntries(EVENT_TYPES.map(each => [each.type, { post: describeEvent(each) }])),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An app or user access token.' },
        operator: { type: 'http', scheme: 'bearer', description: 'An operator token.' },
      },
      schemas: {
        Failure: FAILURE,
        OAuthFailure: failureOf({ status: 'integer', message: 'string' }),
        StandardFailure: failureOf({
          error: 'string',
          error_description: 'string',
          status: 'integer',
          message: 'string',
        }),
      },
    },
  }
}

const FAILURE = failureOf({ error: 'string', status: 'integer', message: 'string' })

function failureOf(types: Readonly<Record<string, string>>) {
  const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))
  return { type: 'object', required: Object.keys(types), properties }
}

function describe(operation: Operation): Json {
  const family = familyOf(operation)
  const { body, example } = operation
  const security = securityOf(operation)
  return {
    operationId: operation.id,
    tags: [family],
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    ...(security && { security }),
    parameters: parametersOf(operation),
    ...(body && {
      requestBody: {
        required: (body.required ?? []).length > 0 && operation.bodyFrom !== 'anywhere',
        content: Object.fromEntries(
          (operation.bodyFrom === 'anywhere' && family === 'oauth'
            ? ['application/x-www-form-urlencoded', 'application/json']
            : ['application/json']
          ).map(type => [
            type,
            { schema: body, ...(example.body !== undefined && { example: example.body }) },
          ]),
        ),
      },
    }),
    ...(operation.bodyLines && {
      requestBody: { required: true, content: linesContent(operation.bodyLines, example.body) },
    }),
    responses: responsesOf(operation, family),
    'x-demo-only': operation.demoOnly,
  }
}

/** A notification, as the server sends it to a callback. */
function describeEvent(each: EventType): Json {
  return {
    tags: ['events'],
    summary: each.summary,
    description: `Version ${each.version}.`,
    parameters: MESSAGE_HEADERS.map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: notificationSchema(each), example: exampleNotification(each) },
      },
    },
    responses: { '2XX': { description: 'Received. Anything else is sent again.' } },
  }
}

const MESSAGE_HEADERS = [
  ['Twitch-Eventsub-Message-Id', 'The same when a message is sent again.'],
  ['Twitch-Eventsub-Message-Retry', 'How many attempts there were before.'],
  ['Twitch-Eventsub-Message-Type', '`notification`.'],
  ['Twitch-Eventsub-Message-Timestamp', 'When this attempt was made.'],
  [
    'Twitch-Eventsub-Message-Signature',
    '`sha256=` and the HMAC-SHA256, in hexadecimal digits, of id, timestamp and body with the secret of the subscription.',
  ],
  ['Twitch-Eventsub-Subscription-Type', 'The type of event.'],
  ['Twitch-Eventsub-Subscription-Version', 'The version of the type.'],
] as const

/** JSON lines. The schema is that of one line, because OpenAPI cannot describe a sequence of them. */
function linesContent(line: TSchema, example: unknown): Json {
  const text = Array.isArray(example) ? example.map(each => `${JSON.stringify(each)}\n`).join('') : ''
  return { 'application/x-ndjson': { schema: line, example: text } }
}

function securityOf({ access }: Operation): Json[] | undefined {
  if (access.kind === 'token') return [{ token: [...access.scopes] }]
  if (access.kind === 'anyone') return [{}, { token: [] }]
  return access.kind === 'operator' ? [{ operator: [] }] : undefined
}

function parametersOf(operation: Operation): Json[] {
  const inputs = inputsOf(operation).filter(({ place }) => !place.endsWith('body'))
  return inputs.map(({ name, place, required, description, schema }) => ({
    name,
    in: place,
    required,
    ...(description !== '' && { description }),
    schema,
    ...('items' in schema && { style: 'form', explode: true }),
  }))
}

/** A file in each of its media types. The example is in the first. */
function fileContent(mediaTypes: readonly string[], example: unknown): Json {
  const entries = mediaTypes.map((mediaType, index) => [
    mediaType,
    {
      schema: { type: mediaType === 'application/json' ? 'object' : 'string' },
      ...(index === 0 && { example }),
    },
  ])
  return Object.fromEntries(entries)
}

function descriptionOf({ returns, answerLines, answerFile }: Operation): string {
  if (answerFile !== undefined) return 'Success: a file, with its name in `Content-Disposition`.'
  if (answerLines !== undefined) return 'Success: a stream of JSON lines. A later failure is the last line.'
  return returns === undefined ? 'Success, without a body.' : 'Success.'
}

function responsesOf(operation: Operation, family: Family): Json {
  const success = {
    description: descriptionOf(operation),
    ...(operation.answerLines && { content: linesContent(operation.answerLines, operation.example.answer) }),
    ...(operation.answerFile && { content: fileContent(operation.answerFile, operation.example.answer) }),
    ...(operation.returns && {
      content: {
        'application/json': {
          schema: operation.returns,
          ...(operation.example.answer !== undefined && { example: operation.example.answer }),
        },
      },
    }),
  }
  const failures = [...statusesOf(operation)].map(([status, names]) => [
    status,
    {
      description: `${reasonPhrases[status]}: ${names.join(', ')}.`,
      content: {
        'application/json': {
          schema: failureSchemaOf(names, operation, family),
        },
      },
    },
  ])
  return { [operation.status ?? 200]: success, ...Object.fromEntries(failures) }
}

function failureSchemaOf(names: readonly ProblemName[], operation: Operation, family: Family): Json {
  const more = names.flatMap(fieldsOfProblem)
  if (more.length > 0)
    return {
      ...FAILURE,
      properties: {
        ...FAILURE.properties,
        ...Object.fromEntries(more.map(name => [name, { type: 'string' }])),
      },
    }
  const name = family === 'oauth' ? 'OAuthFailure' : 'Failure'
  return { $ref: `#/components/schemas/${operation.standardErrors ? 'StandardFailure' : name}` }
}

/** The fields that the error body of a problem has beside the usual ones. */
function fieldsOfProblem(name: ProblemName): string[] {
  const { fields } = problems[name] as { fields?: (...details: unknown[]) => object }
  return Object.keys(fields?.('') ?? {})
}

/** The problems of an operation, by status. */
export function statusesOf(operation: Operation): Map<number, ProblemName[]> {
  const names = [...problemsOf(operation)]
  const byStatus = Map.groupBy(names, name => problems[name].status as number)
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}
