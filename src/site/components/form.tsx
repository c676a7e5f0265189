/** @jsxRuntime automatic @jsxImportSource preact */
/** The parts of forms, and the outcome of the last submission. */
import type { ComponentChildren, ComponentProps } from 'preact'
import { Chevron } from './icon.tsx'

/** Part of every form. */
export interface FormToken {
  readonly csrf: string
}

export const Hidden = ({ name, value }: { name: string; value: string | undefined }) =>
  value === undefined ? null : <input type="hidden" name={name} value={value} />

interface FormProps extends ComponentProps<'form'> {
  /** Values that the page gives, such as the token: hidden fields. */
  readonly fields?: Readonly<Record<string, string | undefined>>
}

export const Form = ({ fields = {}, children, ...attributes }: FormProps) => (
  <form method="post" {...attributes}>
    {Object.entries(fields).map(([name, value]) => (
      <Hidden key={name} name={name} value={value} />
    ))}
    {children}
  </form>
)

interface FormPanelProps extends FormProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly violation?: string | undefined
  readonly done?: string | undefined
  /** What the button does. */
  readonly submit: string
  readonly below?: ComponentChildren
}

/** The only thing on a page: a form with its heading, such as the log-in. */
export const FormPanel = ({
  title,
  lead,
  violation,
  done,
  submit,
  below,
  children,
  ...form
}: FormPanelProps) => (
  <div class="panel">
    <h1>{title}</h1>
    {lead !== undefined && <p class="quiet">{lead}</p>}
    <Notice kind="bad" sentence={violation} />
    <Notice kind="good" sentence={done} />
    <Form {...form}>
      {children}
      <div class="actions stretch">
        <button class="primary" type="submit">
          {submit}
        </button>
      </div>
    </Form>
    {below}
  </div>
)

/** A control with its label and a hint below it, whose id is `<id>-hint`. */
export const Labelled = ({
  id,
  label,
  hint,
  className = 'field',
  children,
}: {
  readonly id: string
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly className?: string
  readonly children: ComponentChildren
}) => (
  <div class={className}>
    <label for={id}>{label}</label>
    {children}
    {hint !== undefined && (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
  </div>
)

/** A list to choose from. */
export const Select = ({ children, ...attributes }: ComponentProps<'select'>) => (
  <span class="select">
    <select {...attributes}>{children}</select>
    <Chevron />
  </span>
)

/** Attributes of a field for names, keys and codes, which browsers neither complete nor correct. */
export const LITERAL = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password'
  readonly value?: string | undefined
  readonly autocomplete: string
  readonly hint?: string
  readonly focus?: boolean
  readonly className?: string
}

export const Field = ({ name, label, type = 'text', value, hint, focus, ...more }: FieldProps) => (
  <Labelled id={name} label={label} hint={hint}>
    <input
      id={name}
      name={name}
      type={type as 'text'}
      {...LITERAL}
      autocomplete={more.autocomplete}
      required
      {...(hint !== undefined && { 'aria-describedby': `${name}-hint` })}
      {...(more.className !== undefined && { class: more.className })}
      {...(value !== undefined && { value })}
      {...(focus && { autofocus: true })}
    />
  </Labelled>
)

export const Notice = ({ kind, sentence }: { kind: 'bad' | 'good'; sentence: string | undefined }) =>
  sentence === undefined ? null : (
    <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {sentence}
    </p>
  )
