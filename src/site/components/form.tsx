/** @jsxRuntime automatic @jsxImportSource preact */
/** The parts of forms, and the outcome of the last submission. */

/** Part of every form. */
export interface FormToken {
  readonly csrf: string
}

export const Hidden = ({ name, value }: { name: string; value: string | undefined }) =>
  value === undefined ? null : <input type="hidden" name={name} value={value} />

export function Field({
  name,
  label,
  type = 'text',
  value,
  autocomplete,
  hint,
  focus = false,
  className,
}: {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password'
  readonly value?: string | undefined
  readonly autocomplete: string
  readonly hint?: string
  readonly focus?: boolean
  readonly className?: string
}) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type as 'text'}
        autocomplete={autocomplete}
        autocapitalize="none"
        spellcheck={false}
        required
        {...(hint !== undefined && { 'aria-describedby': `${name}-hint` })}
        {...(className !== undefined && { class: className })}
        {...(value !== undefined && { value })}
        {...(focus && { autofocus: true })}
      />
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export const Notice = ({ kind, sentence }: { kind: 'bad' | 'good'; sentence: string | undefined }) =>
  sentence === undefined ? null : (
    <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {sentence}
    </p>
  )
