/** @jsxRuntime automatic @jsxImportSource preact */
/** The form that tries an operation: its fields, whose token to send, what is sent, and the answer. */
import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Labelled, LITERAL } from '../components/form.tsx'
import { Prose } from '../components/prose.tsx'
import { SessionEnded } from '../scripts/page-token.ts'
import { AnswerView } from './answer-view.tsx'
import { credentialsFor, type Pasted, shownHeaders, usePasted } from './credentials.ts'
import { FieldRow } from './field-row.tsx'
import { FORMS, type OperationForm, type Way } from './forms.ts'
import { type Prepared, prepare, type Values } from './prepare.ts'
import type { Reader } from './reader.ts'
import { type Answer, send } from './send.ts'

export function showForm(panel: HTMLElement, id: string, reader: Reader): void {
  const form = FORMS[id]
  if (form !== undefined) render(<TryIt form={form} reader={reader} />, panel)
}

type Outcome = Answer | { readonly failure: string; readonly isSessionOver: boolean }

function TryIt({ form, reader }: { form: OperationForm; reader: Reader }) {
  const [values, setValues] = useState<Values>(() => firstValues(form, reader))
  const [way, setWay] = useState<Way>(() => firstWay(form, reader))
  const [pasted, paste] = usePasted()
  const [outcome, setOutcome] = useState<Outcome>()
  const [running, setRunning] = useState<AbortController>()
  const answer = useRef<HTMLDivElement>(null)
  const prepared = prepare(form, values)
  const needsLogIn = way === 'site' && reader.user === null && form.scopes.length > 0
  const isReady = !needsLogIn && Object.keys(prepared.mistakes).length === 0

  useEffect(() => answer.current?.firstElementChild?.scrollIntoView({ block: 'nearest' }), [outcome])

  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isReady || running !== undefined) return
    const request = new AbortController()
    setRunning(request)
    try {
      setOutcome(await send(prepared, await credentialsFor(form, way), request.signal))
    } catch (error) {
      setOutcome({ failure: errorMessage(error), isSessionOver: error instanceof SessionEnded })
    }
    setRunning(undefined)
  }

  return (
    <form class="try-form" onSubmit={submit} noValidate>
      <div class="inputs">
        <Ways form={form} reader={reader} way={way} choose={setWay} />
        {way === 'paste' && <PastedFields form={form} reader={reader} pasted={pasted} paste={paste} />}
        {needsLogIn && <LogIn id={form.id} />}
        {form.fields.length > 0 && (
          <fieldset>
            <legend>Parameters</legend>
            <p class="hint">
              Empty fields are not sent.
              {form.exactlyOne && <Prose text={` Give exactly one of ${joinNames(form.exactlyOne)}.`} />}
            </p>
            {form.fields.map(field => (
              <FieldRow
                key={field.name}
                id={`try-${form.id}-${field.name}`}
                field={field}
                value={values[field.name] ?? ''}
                mistake={(values[field.name] ?? '') === '' ? undefined : prepared.mistakes[field.name]}
                change={value => setValues(before => ({ ...before, [field.name]: value }))}
              />
            ))}
          </fieldset>
        )}
      </div>
      <div class="outputs">
        <Sent prepared={prepared} headers={shownHeaders(form, way, pasted)} />
        <p class="hint">{explanation(form, way, reader)}</p>
        <div class="actions">
          <button
            type="submit"
            class={form.method === 'DELETE' ? 'warning' : 'primary'}
            disabled={!isReady || running !== undefined}
          >
            {running === undefined ? `Send ${form.method} request` : 'Sending'}
          </button>
          {running !== undefined && (
            <button type="button" onClick={() => running.abort()}>
              Cancel
            </button>
          )}
        </div>
        <div class="outcome" ref={answer}>
          {outcome !== undefined && <OutcomeView id={form.id} outcome={outcome} />}
        </div>
      </div>
    </form>
  )
}

const OutcomeView = ({ id, outcome }: { id: string; outcome: Outcome }) => {
  if (!('failure' in outcome)) return <AnswerView answer={outcome} />
  return (
    <>
      <p class="notice bad" role="alert">
        {outcome.failure}
      </p>
      {outcome.isSessionOver && <LogIn id={id} />}
    </>
  )
}

const LogIn = ({ id }: { id: string }) => (
  <p class="log-in">
    <a class="button" href={`/login?next=${encodeURIComponent(`/docs#${id}`)}`}>
      Log in to try it
    </a>
  </p>
)

interface WayChoice {
  readonly form: OperationForm
  readonly reader: Reader
}

const Ways = ({ form, reader, way, choose }: WayChoice & { way: Way; choose: (way: Way) => void }) => {
  if (form.ways.length === 1) return null
  return (
    <fieldset class="ways">
      <legend>Token</legend>
      {form.ways.map(each => (
        <label key={each}>
          <input
            type="radio"
            name={`try-${form.id}-way`}
            checked={way === each}
            onChange={() => choose(each)}
          />
          {wayInWords(each, form, reader)}
        </label>
      ))}
    </fieldset>
  )
}

function wayInWords(way: Way, { scopes }: OperationForm, { user }: Reader): string {
  if (way === 'none') return 'No token'
  if (way === 'paste') return 'A token that I paste'
  if (user !== null) return `As ${user.name}`
  return scopes.length === 0 ? 'As a visitor of this site' : 'As a user of this site'
}

const PastedFields = ({
  form,
  reader,
  pasted,
  paste,
}: WayChoice & { pasted: Pasted; paste: (change: Partial<Pasted>) => void }) => {
  const isOperator = form.family === 'control'
  const name = isOperator ? 'operatorToken' : 'token'
  return (
    <fieldset>
      {form.ways.length === 1 && <legend>Token</legend>}
      <Labelled id={`try-${form.id}-pasted-token`} label={isOperator ? 'Operator token' : 'Access token'}>
        <input
          id={`try-${form.id}-pasted-token`}
          class="secret"
          type="text"
          value={pasted[name]}
          {...LITERAL}
          onInput={event => paste({ [name]: event.currentTarget.value })}
        />
      </Labelled>
      {form.family === 'helix' && (
        <Labelled
          id={`try-${form.id}-pasted-client`}
          label={[
            'Client-Id ',
            <span class="quiet">{reader.isStrict ? 'required in strict mode' : 'optional'}</span>,
          ]}
        >
          <input
            id={`try-${form.id}-pasted-client`}
            type="text"
            value={pasted.clientId}
            {...LITERAL}
            onInput={event => paste({ clientId: event.currentTarget.value })}
          />
        </Labelled>
      )}
    </fieldset>
  )
}

/** The request as it goes over the wire, without secrets. */
const Sent = ({ prepared, headers }: { prepared: Prepared; headers: Readonly<Record<string, string>> }) => (
  <figure class="example">
    <figcaption>What is sent</figcaption>
    <pre>
      <code>{wireText(prepared, headers)}</code>
    </pre>
  </figure>
)

function wireText(
  { method, target, headers, content }: Prepared,
  credentials: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries({ ...headers, ...credentials }).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target}`, ...lines, ...(content === undefined ? [] : ['', content])].join('\n')
}

/** What the request does, and what happens to the token. */
function explanation(form: OperationForm, way: Way, { user }: Reader): string {
  const changes = form.method === 'GET' ? '' : ' It changes data of this server.'
  const to = `The request goes to this server, from your browser.${changes}`
  if (way === 'none') return to
  if (way === 'paste') return `${to} The token stays in this page until you close it, and is not stored.`
  if (user === null) return `${to} Its token is that of every visitor and has no scopes.`
  const scopes = form.scopes.length === 0 ? 'no scopes' : `only ${joinNames(form.scopes, '')}`
  return `${to} Its token is made for it: yours, valid for ten minutes, with ${scopes}.`
}

const joinNames = (names: readonly string[], mark = '`') => names.map(name => mark + name + mark).join(' or ')

/** What the operation requires, as far as it is known: the id of the reader, and bodies that are hard to guess. */
function firstValues({ fields }: OperationForm, { user }: Reader): Values {
  const own = ['broadcaster_id', 'user_id', 'moderator_id']
  const values = fields.flatMap(({ name, kind, required, example }) => {
    if (user !== null && required && own.includes(name)) return [[name, user.id]]
    return required && (kind === 'json' || kind === 'lines') ? [[name, example]] : []
  })
  return Object.fromEntries(values)
}

function firstWay({ ways, scopes, family }: OperationForm, { user, isStrict }: Reader): Way {
  const [first = 'none'] = ways
  if (first === 'none' && isStrict && family === 'helix' && ways.includes('site')) return 'site'
  return first === 'site' && user === null && scopes.length > 0 ? 'paste' : first
}

function errorMessage(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return 'Cancelled.'
  if (error instanceof SessionEnded) return 'Your session has ended. Log in again.'
  return `The server did not answer: ${error instanceof Error ? error.message : String(error)}`
}
