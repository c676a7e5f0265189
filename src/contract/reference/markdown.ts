import type { Access } from '../access.ts'
import { operations } from '../index.ts'
import { type Family, familyOf, type Operation } from '../operation.ts'
import type { JsonSchema } from '../schema.ts'
import { type Input, listInputs } from './inputs.ts'
import { groupByStatus } from './statuses.ts'

export const TITLES: Readonly<Record<Family, string>> = {
  helix: 'Public API',
  drops: 'Drops',
  oauth: 'OAuth',
  playback: 'Playback',
  control: 'Control API',
}

export const INTRODUCTIONS: Readonly<Record<Family, string>> = {
  helix:
    'Also served under `/mock`. Errors have the fields `error`, `status` and `message`. Every answer has the headers `Ratelimit-Limit`, `Ratelimit-Remaining` and `Ratelimit-Reset`.',
  drops:
    'For viewers of drops campaigns; Helix has no such operations. Errors, rate limits and their headers are those of the public API.',
  oauth: 'Also served under `/auth`. Errors have the fields `status` and `message`.',
  playback:
    'For players; no operation needs a token. Errors have the fields `error`, `status` and `message`.',
  control:
    'Send an operator token as `Authorization: Bearer <operator token>`. Operations marked *demo* exist in demo mode only. There are no rate limits.',
}

/** One Markdown page per family. */
export function markdownReference(): Map<Family, string> {
  const pages = new Map<Family, string>()
  for (const family of Object.keys(TITLES) as Family[]) {
    const members = operations.filter(operation => familyOf(operation) === family)
    pages.set(
      family,
      [
        `# ${TITLES[family]}`,
        '',
        '<!-- Generated from the contract by `npm run docs`. Do not edit. -->',
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
  const statuses = [...groupByStatus(operation)].map(([status, names]) => `${status} (${names.join(', ')})`)
  lines.push(`Success: ${operation.status ?? 200}. Errors: ${statuses.join('; ')}.`, '')
  lines.push(...block('Body', example.body, operation.bodyLines !== undefined))
  lines.push(...answerBlock(operation))
  return lines.join('\n')
}

export function accessInWords(access: Access): string {
  if (access.kind === 'open') return 'none'
  if (access.kind === 'anyone') return 'optional; must be valid if sent'
  if (access.kind === 'operator') return 'an operator token'
  if (access.scopes.length === 0) return 'an app or user token'
  const scopes = access.scopes.map(scope => `\`${scope}\``).join(' or ')
  return access.app ? `an app token, or a user token with ${scopes}` : `a user token with ${scopes}`
}

function parameterTable(operation: Operation): string[] {
  const rows = listInputs(operation).map(
    ({ name, place, schema, required, description }) =>
      `| \`${name}\` | ${place} | ${typeInWords(schema, place)} | ${required ? 'yes' : 'no'} | ${description} |`,
  )
  if (rows.length === 0) return []
  return ['| Parameter | In | Type | Required | Notes |', '|---|---|---|---|---|', ...rows, '']
}

/** Lists in a query string are repeated parameters. */
export function typeInWords(schema: object, place?: Input['place']): string {
  const s = schema as JsonSchema
  if (s.enum !== undefined) return s.enum.map(value => `\`${value || '""'}\``).join(' or ')
  if (s.anyOf !== undefined) return s.anyOf.map(each => typeInWords(each)).join(' or ')
  if (s.const !== undefined) return `\`"${s.const}"\``
  if (s.items !== undefined) {
    const items = typeInWords(s.items).replace(/^(\w+), (.+)$/, '$1 ($2)')
    return (place === 'query' ? `${items}, repeatable` : `array of ${items}`) + bounds(s.minItems, s.maxItems)
  }
  if (s.hint !== undefined) return s.hint.replace(/^an? /, '')
  if (s.maxLength !== undefined) return `string${bounds(s.minLength, s.maxLength)} characters`
  return (s.type ?? 'any') + bounds(s.minimum, s.maximum)
}

function bounds(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined)
    return least === most ? `, exactly ${least}` : `, ${least} to ${most}`
  if (most !== undefined) return `, at most ${most}`
  return least === undefined ? '' : `, at least ${least}`
}

function answerBlock({ answerFile, answerLines, example }: Operation): string[] {
  if (answerFile === undefined) return block('Answer', example.answer, answerLines !== undefined)
  const types = answerFile.map(each => `\`${each}\``).join(', ')
  const text = String(example.answer).trimEnd().replaceAll('\r\n', '\n')
  return [
    `Answer: a file, with its name in \`Content-Disposition\` (${types}).`,
    '',
    '```text',
    text,
    '```',
    '',
  ]
}

function block(title: string, value: unknown, isLines: boolean): string[] {
  if (value === undefined) return []
  if (!isLines) return [`${title}:`, '', '```json', JSON.stringify(value, null, 2), '```', '']
  const lines = Array.isArray(value) ? value.map(each => JSON.stringify(each)) : []
  return [`${title}, one JSON object per line:`, '', '```json', ...lines, '```', '']
}
