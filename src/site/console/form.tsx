/** @jsxRuntime automatic @jsxImportSource preact */
/** Fields of forms and filters. */
import { fieldNamed } from '../../contract/admin/fields.ts'
import { Labelled, LITERAL, Select } from '../components/form.tsx'
import { Prose } from '../components/prose.tsx'
import type { InputField } from './input-fields.ts'
import { ROW_ID, type RowTexts, rowFieldName, startName } from './input-fields.ts'
import { findReferenced } from './references.ts'

interface ControlledView {
  readonly field: InputField
  readonly value: string
  /** The value that the form started with, in an edit. */
  readonly start?: string | undefined
  /** Rows that a reference may name. */
  readonly offers: readonly (readonly [id: string, name: string])[]
  readonly isFilter?: boolean
  /** Why the value was refused. */
  readonly mistake?: string | undefined
}

export function ControlledInput(view: ControlledView) {
  const { field, offers, start, mistake, isFilter = false } = view
  const id = `input-${field.name}`
  if (field.kind === 'choice' && field.groups.length > 0) return <ExplainedChoice {...view} id={id} />
  const hint = hintFor(field, isFilter)
  const isOptional = !isFilter && !field.required && start === undefined
  const describedBy = [mistake && mistakeId(id), hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <Labelled
      id={id}
      label={[
        field.label,
        field.kind === 'time' && ' (UTC)',
        isOptional && <span class="quiet"> optional</span>,
      ]}
      hint={hint}
    >
      <Control {...view} id={id} describedBy={describedBy || undefined} />
      <Mistake id={id} text={mistake} />
      {start !== undefined && <input type="hidden" name={startName(field.name)} value={start} />}
      {offers.length > 0 && (
        <datalist id={`${id}-offers`}>
          {offers.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </datalist>
      )}
    </Labelled>
  )
}

const mistakeId = (id: string): string => `${id}-mistake`

export const Mistake = ({ id, text }: { id: string; text: string | undefined }) =>
  text === undefined ? null : (
    <p class="mistake" id={mistakeId(id)}>
      {text}
    </p>
  )

/** The attributes of a field whose value was refused. */
export const markMistake = (id: string, mistake: string | undefined) =>
  mistake === undefined
    ? {}
    : { 'aria-invalid': true as const, 'aria-describedby': mistakeId(id), autofocus: true }

/** A choice that needs explaining: each value has a line that does so. */
const ExplainedChoice = ({ field, value, mistake, id }: ControlledView & { id: string }) => (
  <fieldset class="field explained" aria-describedby={mistake && mistakeId(id)}>
    <legend>{field.label}</legend>
    {field.groups.map(({ title, choices }) => (
      <fieldset key={title}>
        <legend>{title}</legend>
        {choices.map(([each, meaning]) => (
          <label key={each}>
            <input
              type="radio"
              name={field.name}
              value={each}
              checked={each === value}
              required={field.required}
              aria-describedby={`${id}-${each}`}
            />
            <span class="name">{choiceText(field, each)}</span>
            <span class="hint" id={`${id}-${each}`}>
              <Prose text={meaning} />
            </span>
          </label>
        ))}
      </fieldset>
    ))}
    <Mistake id={id} text={mistake} />
  </fieldset>
)

function hintFor({ name, kind, hint }: InputField, isFilter: boolean): string | undefined {
  if (isFilter) return undefined
  const resource = findReferenced(name)
  if (resource?.path === 'users') return kind === 'lines' ? 'Logins or IDs, one per line.' : 'Login or ID.'
  if (resource !== undefined) return kind === 'lines' ? 'Names or IDs, one per line.' : 'Name or ID.'
  return kind === 'lines' ? `${hint ?? ''} One per line.`.trim() : hint
}

interface RowsView {
  readonly field: InputField
  /** What each row has. An empty one can be filled in. */
  readonly rows: readonly RowTexts[]
  /** The rows that the form started with, as text, in an edit. */
  readonly start?: string | undefined
  /** The fields of rows that refer to others, with names to choose from. */
  readonly offers: Readonly<Record<string, readonly string[]>>
}

/** A list of objects: a row of fields for each. */
export const RowsInput = ({ field, rows, start, offers }: RowsView) => (
  <fieldset class="field row-inputs">
    <legend>{field.label}</legend>
    <p class="hint">
      Empty rows are ignored. To remove an entry, empty its fields. Saving adds more empty rows.
    </p>
    {rows.map((row, place) => (
      <div key={row[ROW_ID]} class="row-input">
        <input type="hidden" name={rowFieldName(field.name, place, ROW_ID)} value={row[ROW_ID]} />
        {field.fields
          .filter(({ name }) => name !== ROW_ID)
          .map(each => {
            const id = `input-${field.name}-${place}-${each.name}`
            const name = rowFieldName(field.name, place, each.name)
            const hint = hintFor(each, false)
            return (
              <Labelled
                key={each.name}
                id={id}
                label={[
                  each.label,
                  <span key="place" class="hidden-text">
                    {' '}
                    {place + 1}
                  </span>,
                ]}
              >
                <Control
                  field={{ ...each, name, required: false }}
                  value={row[each.name] ?? ''}
                  offers={[]}
                  id={id}
                  describedBy={hint && `${field.name}-${each.name}-hint`}
                />
              </Labelled>
            )
          })}
      </div>
    ))}
    {field.fields
      .filter(each => each.name !== ROW_ID && hintFor(each, false) !== undefined)
      .map(each => (
        <p key={each.name} class="hint" id={`${field.name}-${each.name}-hint`}>
          {each.label}: {hintFor(each, false)}{' '}
          {offers[each.name]?.length ? `Such as ${offers[each.name]?.join(', ')}.` : ''}
        </p>
      ))}
    {start !== undefined && <input type="hidden" name={startName(field.name)} value={start} />}
  </fieldset>
)

const INPUT_TYPES: Readonly<Partial<Record<InputField['kind'], string>>> = {
  number: 'number',
  secret: 'password',
  time: 'datetime-local',
}

function Control(view: ControlledView & { id: string; describedBy: string | undefined }) {
  const { field, value, offers, id, describedBy, start, isFilter, mistake } = view
  const shared = {
    id,
    name: field.name,
    ...markMistake(id, mistake),
    ...(describedBy && { 'aria-describedby': describedBy }),
    ...(field.required && start === undefined && { required: true }),
  }
  if (field.kind === 'choice' || field.kind === 'yes-no') {
    const choices = field.kind === 'yes-no' ? ['true', 'false'] : field.choices
    const isOpen = start === undefined && !field.required && !choices.includes('')
    return (
      <Select {...shared}>
        {isOpen && (
          <option value="" selected={value === ''}>
            {isFilter ? 'Any' : 'Default'}
          </option>
        )}
        {choices.map(choice => (
          <option key={choice} value={choice} selected={choice === value}>
            {choiceText(field, choice)}
          </option>
        ))}
      </Select>
    )
  }
  if (field.groups.length > 0) return <GroupedSelect {...shared} field={field} value={value} />
  const text = { ...shared, ...LITERAL }
  if (field.kind === 'long' || field.kind === 'lines')
    return <textarea {...text} rows={field.kind === 'lines' ? 4 : 3} value={value} />
  const type = INPUT_TYPES[field.kind] ?? 'text'
  return (
    <input
      {...text}
      type={type as 'text'}
      value={field.kind === 'time' ? value.replace(/(\.\d+)?Z$/, '') : value}
      {...(field.kind === 'time' && { step: '1' })}
      {...(field.kind === 'secret' && { autocomplete: 'new-password' })}
      {...(field.kind === 'number' && { min: field.min, max: field.max, inputMode: 'numeric' as const })}
      {...(field.isDecimal && { step: 'any', inputMode: 'decimal' as const })}
      {...(field.maxLength !== undefined && { maxLength: field.maxLength })}
      {...(offers.length > 0 && { list: `${id}-offers` })}
      {...(isFilter && placeholderFor(field))}
    />
  )
}

interface GroupedSelectProps {
  readonly id: string
  readonly name: string
  readonly field: InputField
  readonly value: string
}

const GroupedSelect = ({ field, value, ...shared }: GroupedSelectProps) => (
  <Select {...shared}>
    {!field.required && (
      <option value="" selected={value === ''}>
        None
      </option>
    )}
    {field.groups.map(({ title, choices }) => (
      <optgroup key={title} label={title}>
        {choices.map(([each]) => (
          <option key={each} value={each} selected={each === value}>
            {each}
          </option>
        ))}
      </optgroup>
    ))}
  </Select>
)

/** What a filter takes, in a few words. */
function placeholderFor({ name }: InputField): { placeholder: string } | undefined {
  const path = findReferenced(name)?.path
  if (path !== undefined) return { placeholder: path === 'users' ? 'Login or ID' : 'Name or ID' }
  const { placeholder } = fieldNamed(name)
  return placeholder === undefined ? undefined : { placeholder }
}

function choiceText({ kind }: InputField, choice: string): string {
  if (kind === 'yes-no') return choice === 'true' ? 'Yes' : 'No'
  return choice === '' ? 'None' : choice.replaceAll('_', ' ')
}
