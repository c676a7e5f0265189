/** @jsxRuntime automatic @jsxImportSource preact */
/** Actions: a form with the fields of the operation, a question before something is destroyed, and secrets shown once. */
import type { AdminTable, FormAction } from '../../../contract/admin/resource.ts'
import { methodName } from '../../../contract/operation.ts'
import { uuid } from '../../../kit/id.ts'
import type { Pairs } from '../../../kit/text.ts'
import { Form, Hidden, Labelled } from '../../components/form.tsx'
import { withQuery } from '../../format/with-query.ts'
import { ConsoleCopy } from '../../islands/console-copy.tsx'
import type { Page, PageAnswer } from '../../render/page.ts'
import { isRefused } from '../../scripts/refused.ts'
import { ControlledInput, Mistake, markMistake, RowsInput } from '../form.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import {
  actionFields,
  findKeyInput,
  type InputField,
  linesName,
  ROW_ID,
  type RowTexts,
  readInputs,
  rowFieldName,
  startName,
  textIn,
  valueText,
} from '../input-fields.ts'
import { toLabel } from '../labels.ts'
import type { Input, OperatorApi, Row } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { findReferenced, References } from '../references.ts'
import { PlainTable, TableFrame } from '../table.tsx'
import type { Query } from './list-page.tsx'
import { rowTitle } from './row-page.tsx'

/** Returned once, when they are created. */
const SECRETS = ['secret', 'token', 'stream_key', 'access_token', 'refresh_token', 'reset_url'] as const

/** What an action is done to. Only rows with a page are read before; others are known by their key alone. */
export interface Target {
  readonly resource: AdminTable
  readonly action: FormAction
  /** Undefined for an action on the whole list, such as the creation of a row. */
  readonly key: string | undefined
  readonly row: Row | undefined
}

interface GivenForm {
  readonly given: Query
  readonly violation?: string
  readonly status?: number
  /** The input that was refused, and what it must be. */
  readonly wrongField?: string | undefined
  readonly reason?: string | undefined
}

export async function actionPage(
  context: ConsoleContext,
  api: OperatorApi,
  target: Target,
  { given, wrongField, reason, ...refused }: GivenForm,
): Promise<Page> {
  const { resource, action, key, row } = target
  const { form } = action
  const references = new References(api)
  const fields = actionFields(action, key !== undefined)
  const isAsked = form.shows !== undefined && fields.every(({ name, required }) => given[name] || !required)
  const { violation, status, answer } = isAsked
    ? await ask(api, target, given)
    : { ...refused, answer: undefined }
  const mistakeAt = (name: string) =>
    isSameField(name, wrongField, form.each) ? (sentence(reason) ?? violation) : undefined
  const start = form.edits && (await startingWith(api, target))
  // A value in the address, such as the member to remove, is part of the question.
  const isFixed = (field: InputField) => form.hidden && given[field.name] !== undefined
  const inputs = await Promise.all(
    fields.map(async field => {
      if (isFixed(field)) return <Hidden key={field.name} name={field.name} value={given[field.name]} />
      if (field.kind === 'rows') return rowsInput(references, field, given, start)
      const listed = start?.[field.name]
      if (Array.isArray(listed) && listed.length > MAX_LINES)
        return <LongList key={field.name} field={field} count={listed.length} />
      const began = start && (given[startName(field.name)] ?? (await startText(references, field, start)))
      return (
        <ControlledInput
          key={field.name}
          field={field}
          value={given[field.name] ?? began ?? ''}
          start={began}
          offers={await references.offersFor(field.name)}
          mistake={mistakeAt(field.name)}
        />
      )
    }),
  )
  const name = rowName(target)
  const back =
    key === undefined || resource.get === undefined
      ? consolePath(resource.path)
      : consolePath(resource.path, key)
  return consolePage(context, {
    title: form.title.includes(' ') ? form.title : `${form.title} ${resource.one}`,
    section: resource.path,
    trail: [
      [resource.title, consolePath(resource.path)],
      ...(row === undefined ? [] : [[rowTitle(resource, row), back] as const]),
    ],
    violation,
    status,
    body: (
      <div class="panel action form">
        <Form action={actionPath(target)} {...formValues(context, target, given)}>
          <p class="quiet">{action.operation.summary}</p>
          {name !== undefined && (
            <p class="target">
              <strong>{name}</strong> {key !== undefined && name !== key && <code>{key}</code>}
            </p>
          )}
          {fields.filter(isFixed).map(field => (
            <p key={field.name} class="target">
              {field.label} <code>{given[field.name]}</code>
            </p>
          ))}
          {inputs}
          {action.confirm === 'by-name' && name !== undefined && (
            <Labelled id="confirm" label={['Type ', <strong key={name}>{name}</strong>, ' to confirm']}>
              <input
                id="confirm"
                name="confirm"
                type="text"
                autocomplete="off"
                spellcheck={false}
                required
                {...markMistake('confirm', mistakeAt('confirm'))}
              />
              <Mistake id="confirm" text={mistakeAt('confirm')} />
            </Labelled>
          )}
          <div class="actions">
            <button type="submit" class={form.removes || action.confirm ? 'danger' : 'primary'}>
              {form.title}
            </button>
            <a class="button" href={back}>
              {form.shows ? 'Back' : 'Cancel'}
            </a>
          </div>
        </Form>
        {answer && <Answer columns={form.shows ?? []} rows={answer} title={form.title} />}
      </div>
    ),
  })
}

/** `must be at most 140 characters` as a sentence. */
const sentence = (reason: string | undefined): string | undefined =>
  reason && `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`

/** Whether an error is about this field: `grants.0.user_id` is about the field with a user on each line. */
function isSameField(name: string, wrong: string | undefined, each: string | undefined): boolean {
  if (wrong === undefined) return false
  return wrong === name || (each !== undefined && name === linesName(each) && wrong.endsWith(each))
}

/** What a form sends beside its fields. One that only asks is a link with parameters, and proves nothing. */
function formValues(context: ConsoleContext, { action }: Target, given: Query) {
  const { generates, shows } = action.form
  if (shows !== undefined) return { method: 'get' as const }
  return { fields: { proof: context.proof, ...(generates && { [generates]: given[generates] || uuid() }) } }
}

/** The answer of an operation that only reads. */
async function ask(
  api: OperatorApi,
  target: Target,
  given: Query,
): Promise<{ violation?: string; status?: number; answer?: readonly Row[] }> {
  const pairs = Object.entries(given).map(([name, value]) => [name, value ?? ''] as const)
  try {
    return { answer: (await api.rows(target.action.operation, await readInput(api, target, pairs))).data }
  } catch (error) {
    if (!isRefused(error)) throw error
    return { violation: error.message, status: error.status }
  }
}

const Answer = ({
  columns,
  rows,
  title,
}: {
  columns: readonly string[]
  rows: readonly Row[]
  title: string
}) => (
  <TableFrame title={title}>
    <PlainTable
      columns={columns.map(
        column => [toLabel(column), (row: Row) => <AnswerCell value={row[column]} />, 'wrap'] as const,
      )}
      items={rows}
      itemKey={row => String(row[columns[0] ?? ''])}
    />
  </TableFrame>
)

/** Whether something holds stands out; names of rules become words. */
function AnswerCell({ value }: { value: unknown }) {
  if (typeof value === 'boolean')
    return <span class={`status ${value ? 'good' : 'bad'}`}>{value ? 'yes' : 'no'}</span>
  const text = String(value ?? '')
  return <>{/^[a-z]+(_[a-z]+)+$/.test(text) ? text.replaceAll('_', ' ') : text}</>
}

/** Longer lists are changed by a program: a form would be too large. */
const MAX_LINES = 200

const LongList = ({ field, count }: { field: InputField; count: number }) => (
  <p class="field">
    <span class="label">{field.label}</span>
    <span class="hint">
      {count.toLocaleString('en-US')} entries, too many for a form. The command line and the control API
      change them.
    </span>
  </p>
)

/** Rows to fill in, below those that there are. */
const EMPTY_ROWS = 3
const MAX_EXAMPLES = 10

/** The rows of a list of objects: as they were sent if the form was refused, otherwise as they are. */
async function rowsInput(references: References, field: InputField, given: Query, start: Row | undefined) {
  const sent: RowTexts[] = []
  for (let row = 0; row < field.mostRows && given[rowFieldName(field.name, row, ROW_ID)]; row++)
    sent.push(
      Object.fromEntries(
        field.fields.map(({ name }) => [name, given[rowFieldName(field.name, row, name)] ?? '']),
      ),
    )
  const stored = start && (await startRows(references, field, start))
  const known = sent.length > 0 ? sent : (stored ?? [])
  const isRoom = sent.length === 0
  const empty = Math.min(EMPTY_ROWS, field.mostRows - known.length)
  const rows = isRoom ? [...known, ...Array.from({ length: empty }, () => ({ [ROW_ID]: uuid() }))] : known
  const offers: Record<string, string[]> = {}
  for (const { name } of field.fields)
    offers[name] = (await references.offersFor(name)).slice(0, MAX_EXAMPLES).map(([, text]) => text)
  const began = given[startName(field.name)] ?? (stored && JSON.stringify(stored))
  return <RowsInput key={field.name} field={field} rows={rows} start={began} offers={offers} />
}

async function startRows(references: References, field: InputField, start: Row): Promise<RowTexts[]> {
  const entries = start[field.name]
  return Promise.all(
    (Array.isArray(entries) ? (entries as Row[]) : []).map(async entry => {
      const texts = field.fields.map(
        async each => [each.name, (await startText(references, each, { ...start, ...entry })) ?? ''] as const,
      )
      return Object.fromEntries(await Promise.all(texts))
    }),
  )
}

/** Does what the form asks for. */
export async function submitAction(
  context: ConsoleContext,
  api: OperatorApi,
  target: Target,
  form: Pairs,
): Promise<PageAnswer> {
  const { action, resource, key, row } = target
  const given: Query = Object.fromEntries(form)
  if (action.form.shows !== undefined) return actionPage(context, api, target, { given })
  const again = (violation: string, status: number, wrongField?: string, reason?: string) =>
    actionPage(context, api, target, { given, violation, status, wrongField, reason })
  const name = rowName(target)
  if (action.confirm === 'by-name' && name !== undefined && given.confirm?.trim() !== name)
    return again(`Type ${name} to confirm.`, 400, 'confirm')
  try {
    const input = await readInput(api, target, form)
    if (action.form.downloads !== undefined) {
      const content = await api.lines(action.operation, input)
      const file = `${String(row?.[resource.findBy ?? resource.key] ?? key)}.${action.form.downloads}`
      return { file: { name: file, mediaType: 'application/x-ndjson', content } }
    }
    const answer = (await api.call(action.operation, input)) as { data?: readonly Row[] } | undefined
    if (action.form.reports !== undefined) return reportPage(context, target, answer?.data ?? [])
    const made = answer?.data?.[0]
    if (made !== undefined && SECRETS.some(each => typeof made[each] === 'string'))
      return secretPage(context, target, made)
    return { goTo: withQuery(placeAfter(target, made), { done: methodName(action.operation) }) }
  } catch (error) {
    if (!isRefused(error)) throw error
    return again(error.message, error.status, error.field, error.reason)
  }
}

/** The inputs of the operation: the key of the row, and the fields of the form, with names resolved to ids. */
async function readInput(api: OperatorApi, { action, key, row }: Target, form: Pairs): Promise<Input> {
  const references = new References(api)
  const { each, generates } = action.form
  const fields = readInputs(actionFields(action, key !== undefined), form)
  const organization = String(fields.organization_id ?? row?.organization_id ?? '')
  const organization_id = organization && (await references.findId('organization_id', organization))
  const resolve = async (field: string, value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return references.findId(field, value, organization_id)
    if (Array.isArray(value)) return Promise.all(value.map(one => resolve(field, one)))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(
      async ([name, one]) => [name, await resolve(name, one)] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
  const resolved: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields))
    resolved[name] = await resolve(each !== undefined && name === linesName(each) ? each : name, value)
  const keyInput = findKeyInput(action)
  const made = form.find(([name]) => name === generates)?.[1]
  const ofRow =
    generates !== undefined
      ? { [generates]: made ?? '' }
      : key === undefined || keyInput === undefined
        ? {}
        : { [keyInput]: key }
  if (action.bulk === undefined || each === undefined) return { ...ofRow, ...resolved }
  const { [linesName(each)]: lines, ...shared } = resolved
  const list = Array.isArray(lines) ? lines.map(one => ({ ...shared, [each]: one })) : []
  return { ...ofRow, [action.bulk]: list }
}

/** The row as it is before an edit. */
async function startingWith(api: OperatorApi, { action, key, row }: Target): Promise<Row> {
  const { edits } = action.form
  const input = Object.keys(edits?.params?.properties ?? {})[0]
  const found = input && edits && key !== undefined ? await api.find(edits, { [input]: key }) : row
  return found ?? {}
}

/** A password has no value to start with: what is left empty stays as it is. Ids of other rows start as their names. */
async function startText(references: References, field: InputField, start: Row): Promise<string | undefined> {
  const { name, kind } = field
  if (kind === 'secret' || !Object.hasOwn(start, name)) return undefined
  const value = start[name]
  const { organization_id } = start
  const owner = typeof organization_id === 'string' ? organization_id : undefined
  if (kind === 'lines' && Array.isArray(value))
    return valueText(await Promise.all(value.map(each => references.findText(name, String(each), owner))))
  return typeof value === 'string' && findReferenced(name) !== undefined
    ? references.findText(name, value, owner)
    : textIn(field, valueText(value))
}

const rowName = ({ resource, key, row }: Target): string | undefined =>
  row === undefined ? key : rowTitle(resource, row)

const actionPath = ({ resource, action, key }: Target): string =>
  key === undefined
    ? consolePath(resource.path, action.form.path)
    : consolePath(resource.path, key, action.form.path)

/** To the row if there is one afterwards, else to the list. */
function placeAfter({ resource, action, key }: Target, made: Row | undefined): string {
  const madeKey = made?.[resource.key]
  const after = key ?? (action.bulk === undefined && typeof madeKey === 'string' ? madeKey : undefined)
  return action.form.removes || after === undefined || resource.get === undefined
    ? consolePath(resource.path)
    : consolePath(resource.path, after)
}

/** What an action has done, where its row is gone. */
function reportPage(context: ConsoleContext, target: Target, rows: readonly Row[]): Page {
  const { resource, action } = target
  const title = action.form.done.replace(/\.$/, '')
  return consolePage(context, {
    title,
    section: resource.path,
    trail: [[resource.title, consolePath(resource.path)]],
    body: (
      <div class="panel action">
        <Answer columns={action.form.reports ?? []} rows={rows} title={title} />
        <div class="actions">
          <a class="button primary" href={placeAfter(target, undefined)}>
            Done
          </a>
        </div>
      </div>
    ),
  })
}

function secretPage(context: ConsoleContext, target: Target, made: Row): Page {
  const { resource, action } = target
  return consolePage(context, {
    title: action.form.done.replace(/\.$/, ''),
    section: resource.path,
    trail: [[resource.title, consolePath(resource.path)]],
    body: (
      <div class="panel action">
        <p class="notice warn">Copy it now: it is not shown again.</p>
        {Object.entries(made)
          .filter(
            ([name, value]) =>
              typeof value === 'string' && (isSecret(name) || name === 'id' || name === 'name'),
          )
          .map(([name, value]) => (
            <Labelled key={name} id={`secret-${name}`} label={toLabel(name)}>
              <div class="copied">
                <input id={`secret-${name}`} class="mono" type="text" value={String(value)} readOnly />
                {isSecret(name) && <ConsoleCopy of={`secret-${name}`} />}
              </div>
            </Labelled>
          ))}
        <div class="actions">
          <a class="button primary" href={placeAfter(target, made)}>
            Done
          </a>
        </div>
      </div>
    ),
  })
}

const isSecret = (name: string): boolean => SECRETS.some(each => each === name)
