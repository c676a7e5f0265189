import type { TSchema } from 'typebox'
import type { Access } from '../contract/access.ts'
import { operations } from '../contract/index.ts'
import { type Family, familyOf, type Operation, queryParametersOf } from '../contract/operation.ts'
import { statusesOf } from './openapi.ts'

export const TITLES: Readonly<Record<Family, string>> = {
  helix: 'The public API',
  oauth: 'Tokens',
  control: 'The control API',
}

export const INTRODUCTIONS: Readonly<Record<Family, string>> = {
  helix:
    'Also answered under `/mock`. Errors are `{"error", "status", "message"}`; every answer carries `Ratelimit-Limit`, `Ratelimit-Remaining` and `Ratelimit-Reset`.',
  oauth: 'Also answered under `/auth`. Errors are `{"status", "message"}`.',
  control:
    'The operator token goes in `Authorization: Bearer`. Operations marked *demo* exist in demo mode only. Calls are not rate limited.',
}

/** One Markdown page per family, from the contract alone. */
export function markdownReference(): Map<Family, string> {
  const pages = new Map<Family, string>()
  for (const family of Object.keys(TITLES) as Family[]) {
    const members = operations.filter(operation => familyOf(operation) === family)
    pages.set(
      family,
      [
        `# ${TITLES[family]}`,
        '',
        '<!-- Made from the contract by `npm run docs`; changes here are overwritten. -->',
        '',
        INTRODUCTIONS[family],
        '',
        ...members.map(
          operation =>
            `- [${operation.id}](#${operation.id.toLowerCase()}) \`${operation.method} ${operation.path}\``,
        ),
        '',
        members.map(section).join('\n'),
      ].join('\n'),
    )
  }
  return pages
}

function section(operation: Operation): string {
  const { example } = operation
  const lines = [
    `## ${operation.id}`,
    '',
    `\`${operation.method} ${operation.path}\`${operation.demoOnly ? ' *demo*' : ''}`,
    '',
    operation.summary,
    '',
  ]
  if (operation.description !== undefined) lines.push(operation.description, '')
  lines.push(`Token: ${accessInWords(operation.access)}.`, '', ...parameterTable(operation))
  const statuses = [...statusesOf(operation)].map(([status, names]) => `${status} (${names.join(', ')})`)
  lines.push(`Answers ${operation.status ?? 200}, or ${statuses.join('; ')}.`, '')
  if (example.body !== undefined) lines.push(...block('Body', example.body))
  if (example.answer !== undefined) lines.push(...block('Answer', example.answer))
  return lines.join('\n')
}

export function accessInWords(access: Access): string {
  if (access.kind === 'open') return 'none'
  if (access.kind === 'anyone') return 'none needed; one that is sent must be valid'
  if (access.kind === 'operator') return 'the operator token'
  const scopes = access.scopes.map(scope => `\`${scope}\``).join(' or ')
  return access.app ? `an app token, or a user token with ${scopes}` : `a user token with ${scopes}`
}

function parameterTable(operation: Operation): string[] {
  const query = queryParametersOf(operation)
  const rows = [
    ...rowsOf('path', operation.params?.properties ?? {}, Object.keys(operation.params?.properties ?? {})),
    ...rowsOf('query', query.properties, query.required ?? []),
    ...rowsOf(
      operation.bodyFrom === 'anywhere' ? 'query or body' : 'body',
      operation.body?.properties ?? {},
      operation.body?.required ?? [],
    ),
    ...(operation.idempotent ? ['| `Idempotency-Key` | header | 1 to 255 visible characters | no | |'] : []),
  ]
  if (rows.length === 0) return []
  return ['| Parameter | In | Type | Required | Notes |', '|---|---|---|---|---|', ...rows, '']
}

function rowsOf(place: string, properties: Record<string, TSchema>, required: readonly string[]): string[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description = '' } = schema as { description?: string }
    return `| \`${name}\` | ${place} | ${typeInWords(schema)} | ${required.includes(name) ? 'yes' : 'no'} | ${description} |`
  })
}

export function typeInWords(schema: TSchema): string {
  const s = schema as unknown as {
    type?: string
    enum?: string[]
    anyOf?: TSchema[]
    const?: string
    items?: TSchema
    hint?: string
    minimum?: number
    maximum?: number
    minLength?: number
    maxLength?: number
    minItems?: number
    maxItems?: number
  }
  if (s.enum !== undefined) return s.enum.map(value => `\`${value}\``).join(' or ')
  if (s.anyOf !== undefined) return s.anyOf.map(typeInWords).join(' or ')
  if (s.const !== undefined) return `\`"${s.const}"\``
  if (s.items !== undefined)
    return `${s.minItems ?? 0} to ${s.maxItems ?? 'any number'} of: ${typeInWords(s.items)}`
  if (s.hint !== undefined) return s.hint
  if (s.maxLength !== undefined) return `string, ${s.minLength ?? 0} to ${s.maxLength} characters`
  if (s.maximum !== undefined) return `integer, ${s.minimum ?? 0} to ${s.maximum}`
  return s.type ?? 'any'
}

function block(title: string, value: unknown): string[] {
  return [`${title}:`, '', '```json', JSON.stringify(value, null, 2), '```', '']
}
