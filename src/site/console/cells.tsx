/** @jsxRuntime automatic @jsxImportSource preact */
/** Values as the console shows them. What a value is follows from the name of its field and from its form. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { fieldNamed, parseSubject, statusTone } from '../../contract/admin/fields.ts'
import { tableAt } from '../../contract/admin/index.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import { second, timeSince, timeUntil } from '../format/times.ts'
import type { Row } from './operator-api.ts'
import { consolePath } from './paths.ts'
import { findReferenced, MAX_SHOWN } from './references.ts'

/** Names of referenced rows, by field and id. */
export type Names = ReadonlyMap<string, string>

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/

/** Numbers are right-aligned, so that they can be compared. */
export function isNumber(field: string): boolean {
  const { kind } = fieldNamed(field)
  return kind === 'number' || kind === 'code' || kind === 'duration'
}

export function Cell({ field, row, names }: { field: string; row: Row; names: Names }) {
  const value = row[field]
  const { kind, badge } = fieldNamed(field)
  if (value === null || value === undefined || value === '') return <span class="faint">–</span>
  if (badge !== undefined)
    return (
      <>
        <span class="status bad">{badge}</span> <Time iso={String(value)} />
      </>
    )
  if (kind === 'status') return <Status value={String(value)} />
  if (typeof value === 'boolean') return <>{value ? 'Yes' : 'No'}</>
  if (typeof value === 'number') return <>{numberText(field, value)}</>
  if (Array.isArray(value) && value.length > 0) return <Values field={field} values={value} names={names} />
  if (typeof value === 'object') return <>{objectText(value)}</>
  const text = String(value)
  if (findReferenced(field) !== undefined) return <Reference field={field} id={text} names={names} />
  if (TIME.test(text)) return <Time iso={text} />
  if (kind === 'subject' || kind === 'actor') return <Subject text={text} />
  if (field === 'id' || field.endsWith('_id') || field === 'hash' || UUID.test(text))
    return <Id text={text} />
  return <>{text}</>
}

/** The time of the server while a page is rendered, in milliseconds since 1970. */
export const Now = createContext(0)

/** In words; where there is room, the exact time beside them. */
function Time({ iso }: { iso: string }) {
  const now = useContext(Now)
  const isPast = Date.parse(iso) <= now
  return (
    <time dateTime={iso} title={second(iso)}>
      {isPast ? timeSince(iso, now) : timeUntil(iso, now)}
      <span class="exact"> {second(iso).replace(' UTC', '')}</span>
    </time>
  )
}

/** Ids are long: the first part is enough to recognise one, and the whole one can be copied. */
const Id = ({ text }: { text: string }) => (
  <code class="id" title={text}>
    {UUID.test(text) || text.length > 30 ? `${text.slice(0, 8)}…` : text}
  </code>
)

export const Status = ({ value }: { value: string }) => (
  <span class={`status ${toneClass(value)}`}>{value.replaceAll('_', ' ').toLowerCase()}</span>
)

/** A status that is not listed is a failure, of which there are many. */
export const toneClass = (status: string): string => statusTone(status) ?? 'bad'

function Reference({ field, id, names }: { field: string; id: string; names: Names }) {
  const resource = findReferenced(field)
  const name = names.get(`${field} ${id}`)
  if (resource === undefined || name === undefined) return <Id text={id} />
  return (
    <span class="reference">
      <a href={consolePath(resource.path, id)}>{name}</a>{' '}
      <span class="beside">
        <Id text={id} />
      </span>
    </span>
  )
}

/** A list, of which the first are shown. */
function Values({ field, values, names }: { field: string; values: readonly unknown[]; names: Names }) {
  const isReference = findReferenced(field) !== undefined
  const more = values.length - MAX_SHOWN
  if (!isReference) return <>{objectText(values)}</>
  return (
    <span class="values">
      {values.slice(0, MAX_SHOWN).map((value, place) => (
        <>
          {place > 0 && ', '}
          <Reference key={String(value)} field={field} id={String(value)} names={names} />
        </>
      ))}
      {more > 0 && <span class="quiet"> and {more.toLocaleString('en-US')} more</span>}
    </span>
  )
}

/** The subjects and actors of the audit log lead to their rows. */
function Subject({ text }: { text: string }) {
  const subject = parseSubject(text)
  if (subject === undefined || tableAt(subject.table) === undefined) return <>{text}</>
  return (
    <a href={consolePath(subject.table, subject.id)} title={text}>
      {text.length > 44 ? `${text.slice(0, 43)}…` : text}
    </a>
  )
}

function numberText(field: string, value: number): string {
  const { kind } = fieldNamed(field)
  if (kind === 'duration') return clockTime(value)
  return kind === 'code' ? String(value) : value.toLocaleString('en-US')
}

/** Lists and small objects, such as the condition of a subscription. */
function objectText(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(String).join(', ')
  return Object.entries(value)
    .map(
      ([name, each]) =>
        `${name.replaceAll('_', ' ')} ${typeof each === 'object' ? JSON.stringify(each) : each}`,
    )
    .join(', ')
}

/** All fields of a row with their labels. */
export const FactList = ({
  facts,
}: {
  facts: readonly (readonly [label: string, value: ComponentChildren])[]
}) => (
  <dl class="fact-list">
    {facts.map(([label, value]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
