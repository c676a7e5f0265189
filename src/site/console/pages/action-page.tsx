/** @jsxRuntime automatic @jsxImportSource preact */
/** Actions: a form with the fields of the operation, a question before something is destroyed, and secrets shown once. */
import type { AdminTable, FormAction } from '../../../contract/admin/resource.ts'
import { methodName } from '../../../contract/operation.ts'
import type { Pairs } from '../../../kit/text.ts'
import { Form, Hidden, Labelled } from '../../components/form.tsx'
import { withQuery } from '../../format/with-query.ts'
import { ConsoleCopy } from '../../islands/console-copy.tsx'
import type { Page, PageAnswer } from '../../render/page.ts'
import { isRefused } from '../../scripts/refused.ts'
import { ControlledInput } from '../form.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import {
  actionFields,
  findKeyInput,
  type InputField,
  linesName,
  readInputs,
  startName,
  valueText,
} from '../input-fields.ts'
import { toLabel } from '../labels.ts'
import type { Input, OperatorApi, Row } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { References } from '../references.ts'
import type { Query } from './list-page.tsx'
import { rowTitle } from './row-page.tsx'

/** Returned once, when they are created. */
const SECRETS = ['secret', 'token', 'stream_key', 'access_token', 'refresh_token'] as const

/** What an action is done to. Only rows with a page are read before; others are known by their key alone. */
export interface Target {
  readonly resource: AdminTable
  readonly action: FormAction
  /** Undefined for an action on the whole list, such as the creation of a row. */
  readonly key: string | undefined
  readonly row: Row | undefined
}

export async function actionPage(
  desk: ConsoleContext,
  api: OperatorApi,
  target: Target,
  { given, violation, status }: { given: Query; violation?: string; status?: number },
): Promise<Page> {
  const { resource, action, key, row } = target
  const { form } = action
  const references = new References(api)
  const fields = actionFields(action, key !== undefined)
  const start = form.edits && (await startingWith(api, target))
  // A value in the address, such as the member to remove, is part of the question.
  const isFixed = (field: InputField) => form.hidden && given[field.name] !== undefined
  const inputs = await Promise.all(
    fields.map(async field => {
      if (isFixed(field)) return <Hidden key={field.name} name={field.name} value={given[field.name]} />
      const began = start && (given[startName(field.name)] ?? startText(field, start))
      return (
        <ControlledInput
          key={field.name}
          field={field}
          value={given[field.name] ?? began ?? ''}
          start={began}
          offers={await references.offersFor(field.name)}
        />
      )
    }),
  )
  const name = rowName(target)
  const back =
    key === undefined || resource.get === undefined
      ? consolePath(resource.path)
      : consolePath(resource.path, key)
  return consolePage(desk, {
    title: form.title.includes(' ') ? form.title : `${form.title} ${resource.one}`,
    section: resource.path,
    trail: [
      [resource.title, consolePath(resource.path)],
      ...(row === undefined ? [] : [[rowTitle(resource, row), back] as const]),
    ],
    violation,
    status,
    body: (
      <div class="panel action">
        <Form action={actionPath(target)} fields={{ proof: desk.proof }}>
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
              <input id="confirm" name="confirm" type="text" autocomplete="off" spellcheck={false} required />
            </Labelled>
          )}
          <div class="actions">
            <button type="submit" class={form.removes || action.confirm ? 'danger' : 'primary'}>
              {form.title}
            </button>
            <a class="button" href={back}>
              Cancel
            </a>
          </div>
        </Form>
      </div>
    ),
  })
}

/** Does what the form asks for. */
export async function submitAction(
  desk: ConsoleContext,
  api: OperatorApi,
  target: Target,
  form: Pairs,
): Promise<PageAnswer> {
  const { action } = target
  const given: Query = Object.fromEntries(form)
  const again = (violation: string, status: number) =>
    actionPage(desk, api, target, { given, violation, status })
  const name = rowName(target)
  if (action.confirm === 'by-name' && name !== undefined && given.confirm?.trim() !== name)
    return again(`Type ${name} to confirm.`, 400)
  try {
    const answer = await api.call(action.operation, await readInput(api, target, form))
    const made = (answer as { data?: readonly Row[] } | undefined)?.data?.[0]
    if (made !== undefined && SECRETS.some(each => typeof made[each] === 'string'))
      return secretPage(desk, target, made)
    return { goTo: withQuery(placeAfter(target, made), { done: methodName(action.operation) }) }
  } catch (error) {
    if (!isRefused(error)) throw error
    return again(error.message, error.status)
  }
}

/** The inputs of the operation: the key of the row, and the fields of the form, with names resolved to ids. */
async function readInput(api: OperatorApi, { action, key }: Target, form: Pairs): Promise<Input> {
  const references = new References(api)
  const { each } = action.form
  const fields = readInputs(actionFields(action, key !== undefined), form)
  const resolved: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const field = each !== undefined && name === linesName(each) ? each : name
    if (typeof value === 'string') resolved[name] = await references.findId(field, value)
    else if (Array.isArray(value))
      resolved[name] = await Promise.all(value.map(one => references.findId(field, String(one))))
    else resolved[name] = value
  }
  const keyInput = findKeyInput(action)
  const ofRow = key === undefined || keyInput === undefined ? {} : { [keyInput]: key }
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

/** A password has no value to start with: what is left empty stays as it is. */
const startText = ({ name, kind }: InputField, start: Row): string | undefined =>
  kind === 'secret' || !Object.hasOwn(start, name) ? undefined : valueText(start[name])

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

function secretPage(desk: ConsoleContext, target: Target, made: Row): Page {
  const { resource, action } = target
  return consolePage(desk, {
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
