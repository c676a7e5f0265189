/** @jsxRuntime automatic @jsxImportSource preact */
/** A parameter as a form field, with what the contract states about it. */
import { LITERAL, Select } from '../components/form.tsx'
import { Prose } from '../components/prose.tsx'
import type { FormField } from './forms.ts'

interface FieldRowProps {
  readonly id: string
  readonly field: FormField
  readonly value: string
  readonly mistake: string | undefined
  readonly change: (value: string) => void
}

export const FieldRow = (props: FieldRowProps) => {
  const { id, field, mistake } = props
  const { name, place, required, type, description } = field
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> <span class="quiet">{place}</span>
        {required && <span class="must"> required</span>}
      </label>
      <Control {...props} />
      <p class="hint" id={`${id}-hint`}>
        <Prose text={[type, description].filter(Boolean).join('. ')} />
      </p>
      {mistake !== undefined && (
        <p class="mistake" role="alert">
          {mistake}
        </p>
      )}
    </div>
  )
}

function Control({ id, field, value, mistake, change }: FieldRowProps) {
  const { kind, choices = [], example } = field
  const common = {
    id,
    value,
    'aria-describedby': `${id}-hint`,
    ...(mistake !== undefined && { 'aria-invalid': true }),
    onInput: (event: { currentTarget: { value: string } }) => change(event.currentTarget.value),
  }
  if (kind === 'choice' || kind === 'boolean')
    return (
      <Select {...common}>
        <option value="">not sent</option>
        {(kind === 'boolean' ? ['true', 'false'] : choices).map(each => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </Select>
    )
  const placeholder = example === '' ? '' : example.replaceAll('\n', ', ')
  if (kind === 'text' || kind === 'number')
    return (
      <input
        {...common}
        {...LITERAL}
        type="text"
        placeholder={placeholder}
        {...(kind === 'number' && { inputMode: 'numeric' as const })}
      />
    )
  const isCode = kind === 'json' || kind === 'lines'
  return (
    <textarea
      {...common}
      {...LITERAL}
      class={isCode ? 'code' : ''}
      rows={isCode ? Math.min(14, Math.max(3, (value || example).split('\n').length)) : 1}
      placeholder={isCode ? example : placeholder || 'one per line'}
    />
  )
}
