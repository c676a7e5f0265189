/**
 * The contract as an OpenAPI 3.1 document, for readers, code generators and gateways. Everything in it is a keyword of
 * OpenAPI 3.1 or JSON Schema 2020-12, or one of the extensions that docs/openapi.md lists.
 */
import { EVENT_TYPES } from '../events/event-types.ts'
import { operations } from '../index.ts'
import { type Family, familyOf, type Operation } from '../operation.ts'
import { listStrictRules } from '../strict.ts'
import { describeEvent } from './openapi/events.ts'
import { Failures } from './openapi/failures.ts'
import { headerComponents, headersOfSuccess } from './openapi/headers.ts'
import { linesContent } from './openapi/lines.ts'
import { describeParameters, describeRequestBody, parameterComponents } from './openapi/requests.ts'
import { type Json, Schemas } from './openapi/schemas.ts'
import { describeSecurity, securitySchemes } from './openapi/security.ts'

export interface OpenapiOptions {
  readonly version: string
  readonly serverUrl: string
  /** Where the control API is; default: at the same URL. */
  readonly controlUrl?: string
  /** Default: all. */
  readonly families?: readonly Family[]
  /** Whether to include the operations of demo mode; default: true. */
  readonly demo?: boolean
  /** Whether the server is in strict mode; default: false. */
  readonly strict?: boolean
}

export const PUBLIC_FAMILIES: readonly Family[] = ['helix', 'drops', 'oauth', 'playback']
const ALL_FAMILIES: readonly Family[] = [...PUBLIC_FAMILIES, 'control']

const TAGS: Readonly<Record<Family | 'events', string>> = {
  helix: 'The public API. Also served under /mock.',
  drops: 'Drops campaigns, for viewers.',
  oauth: 'OAuth 2 and OpenID Connect. Also served under /auth.',
  playback: 'For players: sessions that count viewers.',
  control: 'The control API, for operators.',
  events: 'What subscribers receive.',
}

export function openapiDocument(options: OpenapiOptions): Json {
  const { version, serverUrl, families = ALL_FAMILIES, demo = true, strict = false } = options
  const included = operations.filter(each => families.includes(familyOf(each)) && (demo || !each.demoOnly))
  const writer = new OperationWriter(strict)
  const paths = describePaths(included, options, writer)
  const webhooks = families.includes('helix')
    ? EVENT_TYPES.map(each => [each.type, { post: describeEvent(each, writer.schemas) }])
    : []
  const tags = [...families, ...(webhooks.length > 0 ? (['events'] as const) : [])]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Strand',
      version,
      summary: 'The API of a streaming platform: drops entitlements, live streams, stream keys and markers.',
      description:
        'Compatible with the Helix API of Twitch (not affiliated). Unknown parameters and fields are ignored. An empty query parameter counts as absent.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: tags.map(name => ({ name, description: TAGS[name] })),
    paths,
    ...(webhooks.length > 0 && { webhooks: Object.fromEntries(webhooks) }),
    components: {
      securitySchemes: securitySchemes(serverUrl, families),
      parameters: parameterComponents(strict),
      headers: headerComponents(),
      responses: writer.failures.responses,
      examples: writer.failures.examples,
      schemas: writer.schemas.named,
    },
  }
}

function describePaths(
  included: readonly Operation[],
  { serverUrl, controlUrl = serverUrl }: OpenapiOptions,
  writer: OperationWriter,
): Json {
  const byPath = Map.groupBy(included, ({ path }) => path)
  return Object.fromEntries(
    [...byPath].map(([path, members]) => [
      path,
      {
        ...(familyOf({ path }) === 'control' &&
          controlUrl !== serverUrl && { servers: [{ url: controlUrl }] }),
        ...Object.fromEntries(members.map(each => [each.method.toLowerCase(), writer.describe(each)])),
      },
    ]),
  )
}

/** Describes operations, and collects what they refer to. */
class OperationWriter {
  readonly schemas = new Schemas()
  readonly failures = new Failures(this.schemas)
  readonly #strict: boolean

  constructor(strict: boolean) {
    this.#strict = strict
  }

  describe(operation: Operation): Json {
    const { id, summary, description, exactlyOne, demoOnly, status = 200 } = operation
    const requestBody = describeRequestBody(operation, this.schemas)
    const strictRules = listStrictRules(operation).filter(each => each.operation !== undefined)
    return {
      operationId: id,
      tags: [familyOf(operation)],
      summary,
      ...(description && { description }),
      security: describeSecurity(operation, this.#strict),
      parameters: describeParameters(operation, this.schemas),
      ...(requestBody && { requestBody }),
      responses: {
        [status]: this.#success(operation),
        ...(operation.mayBeEmpty && {
          204: { description: NO_BODY, headers: headersOfSuccess(operation) },
        }),
        ...this.failures.of(operation, { strict: this.#strict }),
      },
      ...(exactlyOne && { 'x-strand-exactly-one': exactlyOne }),
      ...(strictRules.length > 0 && { 'x-strand-strict': strictRules.map(each => each.strict) }),
      ...(demoOnly && { 'x-strand-demo-only': true }),
    }
  }

  #success(operation: Operation): Json {
    const { returns, answerLines, answerFile, fileOnRequest, example } = operation
    return {
      description: describeSuccess(operation),
      headers: headersOfSuccess(operation),
      ...(answerLines && { content: linesContent(answerLines, example.answer, this.schemas) }),
      ...(answerFile && { content: fileContent(answerFile, example.answer) }),
      ...(returns && {
        content: {
          ...(fileOnRequest && fileContent(fileOnRequest)),
          'application/json': {
            schema: this.schemas.use(returns),
            ...(example.answer !== undefined && { example: example.answer }),
          },
        },
      }),
    }
  }
}

const NO_BODY = 'Success, without a body.'

function describeSuccess({ returns, answerLines, answerFile }: Operation): string {
  if (answerFile !== undefined) return 'Success: a file.'
  if (answerLines !== undefined) return 'Success: a stream of JSON lines. A later failure is the last line.'
  return returns === undefined ? NO_BODY : 'Success.'
}

/** A file in each of its media types. The example is in the first. */
function fileContent(mediaTypes: readonly string[], example?: unknown): Json {
  const entries = mediaTypes.map((mediaType, index) => [
    mediaType,
    {
      schema: { type: mediaType === 'application/json' ? 'object' : 'string' },
      ...(index === 0 && example !== undefined && { example }),
    },
  ])
  return Object.fromEntries(entries)
}
