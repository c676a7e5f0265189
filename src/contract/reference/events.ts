import type { EventType } from '../events/event-type.ts'
import { EVENT_TYPES } from '../events/event-types.ts'
import { exampleNotification } from '../events/notification.ts'
import { type AnswerField, answerFields } from './answer-fields.ts'

export const EVENTS_TITLE = 'Events'

export const EVENTS_INTRODUCTION =
  'Subscribe with CreateEventSubSubscription. By webhook, a notification is a signed POST with `subscription` and `event` as its body; by WebSocket, the same object is the `payload` of a message.'

const TRANSPORTS = { webhook: 'webhook', websocket: 'WebSocket' } as const

/** The types of events as one Markdown page. */
export function eventsPage(): string {
  return [
    `# ${EVENTS_TITLE}`,
    '',
    '<!-- Generated from the contract by `npm run docs`. Do not edit. -->',
    '',
    `${EVENTS_INTRODUCTION} [Events](../events.md) describes both transports, signatures and retries.`,
    '',
    ...EVENT_TYPES.map(({ type, version }) => `- [${type}](#${eventAnchor(type)}) version ${version}`),
    '',
    EVENT_TYPES.map(section).join('\n'),
  ].join('\n')
}

/** As Markdown renderers make it of a heading. */
const eventAnchor = (type: string): string => type.replaceAll('.', '')

function section(each: EventType): string {
  return [
    `## ${each.type}`,
    '',
    `Version ${each.version}. ${each.summary}`,
    '',
    `Transport: ${transportsInWords(each)}. Who may subscribe: ${subscribersInWords(each)}.`,
    '',
    ...table('Condition', conditionFields(each)),
    ...table('Event', answerFields(each.event)),
    'Notification:',
    '',
    '```json',
    JSON.stringify(exampleNotification(each), null, 2),
    '```',
    '',
  ].join('\n')
}

export const conditionFields = ({ condition }: EventType): AnswerField[] => answerFields(condition)

export function transportsInWords({ transports, isBatched }: EventType): string {
  const names = transports.map(method => TRANSPORTS[method]).join(' or ')
  return isBatched ? `${names}, several events in one request` : names
}

export function subscribersInWords({ access }: EventType): string {
  if (access.kind === 'anyone') return 'everyone'
  if (access.kind === 'organization') return 'clients of the organization'
  if (access.kind === 'client') return 'the client itself'
  const { scope, as } = access
  const person = as === undefined ? 'the broadcaster or an editor' : `the broadcaster or an editor, \`${as}\``
  return `${person}, who has granted \`${scope}\``
}

function table(title: string, fields: readonly AnswerField[]): string[] {
  const rows = fields.map(
    ({ name, type, optional, notes }) =>
      `| \`${name}\` | ${type} | ${[...(optional ? ['Optional.'] : []), notes].join(' ').trim()} |`,
  )
  return [`| ${title} | Type | Notes |`, '|---|---|---|', ...rows, '']
}
