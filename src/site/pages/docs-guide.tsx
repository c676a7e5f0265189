/** @jsxRuntime automatic @jsxImportSource preact */
/** What comes before the operations of the public API: the first requests, errors, and what each scope permits. */
import type { ComponentChildren } from 'preact'
import { EVENT_TYPES } from '../../contract/events/event-types.ts'
import { helixOperations, oauthOperations, operations } from '../../contract/index.ts'
import { type ProblemWithoutDetails, problem, reasonPhrases } from '../../contract/problem.ts'
import { SCOPES, type Scope } from '../../contract/scope.ts'
import { SCOPE_TEXTS } from '../../contract/scope-texts.ts'
import { Prose } from '../components/prose.tsx'
import { type ExampleOptions, RequestExample, TextExample } from './docs-example.tsx'

/** Titles by id. */
export const GUIDES = {
  'getting-started': 'Getting started',
  errors: 'Errors',
  scopes: 'Scopes',
} as const

export const Guide = ({ options }: { options: ExampleOptions }) => (
  <>
    <Section id="getting-started" words="guide quickstart token request first">
      <Step
        title="Send a request"
        text={
          options.strict
            ? 'This server is in strict mode: every request under `/helix` needs a token, and the id of its client as `Client-Id`.'
            : 'Public data needs no token. A token that is sent must be valid.'
        }
      >
        <RequestExample operation={helixOperations.getStreams} options={options} />
      </Step>
      <Step
        title="Get a token"
        text="A program that acts for itself uses an app token, which it gets for its client id and secret. A program that acts for a person uses a user token: send the person to `/oauth2/authorize`, or show a device code. An operator registers clients in the console or with `strand client create`."
      >
        <RequestExample operation={oauthOperations.createToken} options={options} />
      </Step>
      <Step
        title="Use it"
        text="Put the token into the variable `TOKEN`. The examples of this page read it from there, so that it is not part of the program."
      >
        <RequestExample operation={helixOperations.createStreamMarker} options={options} />
      </Step>
    </Section>
    <Section id="errors" words="guide failures problems status retry Strand-Error">
      <div class="step">
        <div>
          <p>
            <Prose text="An error has the status of its kind. `message` is for people. The header `Strand-Error` has the name that the reference lists for each operation, for programs: it stays the same when a message changes." />
          </p>
          <dl class="entries failures">
            {STATUSES.map(([status, text]) => (
              <div key={status}>
                <dt>
                  <span class="status">{status}</span>
                  {reasonPhrases[Number(status.slice(0, 3))] ?? ''}
                </dt>
                <dd>
                  <Prose text={text} />
                </dd>
              </div>
            ))}
          </dl>
        </div>
        <div class="examples">
          <TextExample title="Answer 401" text={errorText('token_invalid')} />
        </div>
      </div>
    </Section>
    <Section id="scopes" words="guide scopes permissions tokens">
      <p>
        <Prose text="A user token has the scopes that the person has granted to the client. An operation that lists several accepts any of them." />
      </p>
      <dl class="entries scopes">
        {SCOPES.map(scope => (
          <div key={scope}>
            <dt>
              <code>{scope}</code>
            </dt>
            <dd>
              {SCOPE_TEXTS[scope]}
              <span class="uses">
                {requiring(scope).map(id => [
                  <a key={id} href={`#${id}`}>
                    {id}
                  </a>,
                  ' ',
                ])}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  </>
)

const STATUSES: readonly (readonly [status: string, text: string])[] = [
  ['400', 'A parameter is missing, malformed or out of range; the message names it.'],
  ['401', 'The token is missing, invalid or expired, or lacks a scope. Renew it, or ask for the scope.'],
  ['403', 'The token is valid, but this user or client may not do this.'],
  ['404', 'The channel, video or other resource does not exist.'],
  ['409', 'The request contradicts the current state.'],
  ['429', 'The bucket is empty. Wait until `Ratelimit-Reset`.'],
  ['503', 'The server is overloaded or its store is away. Retry after the seconds in `Retry-After`.'],
]

function errorText(name: ProblemWithoutDetails): string {
  const { status, message } = problem(name)
  return JSON.stringify({ error: reasonPhrases[status], status, message }, null, 2)
}

/** The operations and events that require a scope. */
function requiring(scope: Scope): string[] {
  return [
    ...operations.flatMap(({ id, access }) =>
      access.kind === 'token' && access.scopes.includes(scope) ? [id] : [],
    ),
    ...EVENT_TYPES.flatMap(({ type, access }) =>
      access.kind === 'editor' && access.scope === scope ? [type] : [],
    ),
  ]
}

interface SectionProps {
  readonly id: keyof typeof GUIDES
  /** What the filter finds it by, beside its title. */
  readonly words: string
  readonly children: ComponentChildren
}

const Section = ({ id, words, children }: SectionProps) => (
  <section class="guide" id={id} aria-labelledby={`${id}-title`} data-words={`${GUIDES[id]} ${words}`}>
    <h2 id={`${id}-title`}>
      <a href={`#${id}`}>{GUIDES[id]}</a>
    </h2>
    {children}
  </section>
)

const Step = ({ title, text, children }: { title: string; text: string; children: ComponentChildren }) => (
  <div class="step">
    <div>
      <h3>{title}</h3>
      <p>
        <Prose text={text} />
      </p>
    </div>
    <div class="examples">{children}</div>
  </div>
)
