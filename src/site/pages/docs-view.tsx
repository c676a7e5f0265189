/** @jsxRuntime automatic @jsxImportSource preact */
/**
 * The API reference as a page: every operation with its access, input, answer, failures and an example, and every type of
 * event. Generated from the contract, for the families that a listener serves. What moves is in the island: the filter, the
 * buttons that copy or choose a language, and the forms that try an operation. Without a script the page is complete.
 */
import type { ComponentChildren } from 'preact'
import { renderToStaticMarkup } from 'preact-render-to-string'
import type { Access } from '../../contract/access.ts'
import type { EventType } from '../../contract/events/event-type.ts'
import { EVENT_TYPES } from '../../contract/events/event-types.ts'
import { exampleNotification } from '../../contract/events/notification.ts'
import { operations } from '../../contract/index.ts'
import { type Family, familyOf, type Operation } from '../../contract/operation.ts'
import { type ProblemName, problems } from '../../contract/problem.ts'
import { type AnswerField, answerFields } from '../../contract/reference/answer-fields.ts'
import {
  conditionFields,
  EVENTS_INTRODUCTION,
  EVENTS_TITLE,
  subscribersInWords,
  transportsInWords,
} from '../../contract/reference/events.ts'
import { LANGUAGES, type LanguageName } from '../../contract/reference/examples/languages.ts'
import { listInputs } from '../../contract/reference/inputs.ts'
import { accessInWords, INTRODUCTIONS, TITLES, typeInWords } from '../../contract/reference/markdown.ts'
import { groupByStatus } from '../../contract/reference/statuses.ts'
import { SCOPES } from '../../contract/scope.ts'
import { Chevron, Icon, MENU } from '../components/icon.tsx'
import { Prose } from '../components/prose.tsx'
import type { Reader } from '../docs/reader.ts'
import { Docs } from '../islands/docs.tsx'
import { ConstantParts } from '../render/constant-parts.ts'
import type { Page } from '../render/page.ts'
import { type ExampleOptions, RequestExample, TextExample } from './docs-example.tsx'
import { Guide } from './docs-guide.tsx'
import { byResource, type FamilyMembers, ReferenceMenu, Verb } from './docs-menu.tsx'

export interface ReferenceOptions extends ExampleOptions {
  /** Whether to include the operations of demo mode. */
  readonly demo: boolean
}

/** The menu and the text of the reference, which are the same for everyone. */
export function renderReference(families: readonly Family[], options: ReferenceOptions): ConstantParts {
  const shown = families.map(family => ({
    family,
    members: operations.filter(each => familyOf(each) === family && (options.demo || !each.demoOnly)),
  }))
  const menu = <ReferenceMenu shown={shown} />
  const text = (
    <>
      <Basics families={families} options={options} />
      {families.includes('helix') && <Guide options={options} />}
      {shown.map(({ family, members }) => [
        <FamilySection key={family} family={family} members={members} options={options} />,
        family === 'helix' && <EventsSection />,
      ])}
    </>
  )
  return new ConstantParts([menu, text].map(part => renderToStaticMarkup(part)))
}

const SUMMARY = {
  path: '/docs',
  description: 'All operations and events of this server, with examples in curl, TypeScript and Python.',
}

/** Where people log in, the page is on the listener of the public API. The link leads to the document of what is shown. */
export function docsPage(
  reference: ConstantParts,
  reader: Reader,
  families: readonly Family[],
  language: LanguageName,
): Page {
  const isPublic = families.includes('oauth')
  const document = families.includes('control') ? '/control/openapi.json' : '/openapi.json'
  return {
    title: 'API reference',
    style: 'docs',
    // A form gets a token with those that its operation requires.
    scopes: SCOPES,
    constantParts: reference,
    ...(isPublic ? { summary: SUMMARY } : { listener: 'operator' }),
    body: (
      <>
        <nav class="rail" aria-label="Operations">
          {/* Where there is little space it shows the menu behind it, also without a script; elsewhere the menu is open. */}
          <details class="opener">
            <summary>
              <Icon shape={MENU} />
              Operations <span class="here" />
              <Chevron />
            </summary>
          </details>
          <div class="menu">
            <Docs {...reader} />
            <div dangerouslySetInnerHTML={{ __html: reference.placeholder(0) }} />
          </div>
        </nav>
        <div class="reference">
          <h1>API reference</h1>
          <p class="lead">
            All operations of this server, generated from the declarations that it runs on. Also available{' '}
            <a href={document}>as OpenAPI</a>.
          </p>
          <Languages chosen={language} />
          <div dangerouslySetInnerHTML={{ __html: reference.placeholder(1) }} />
        </div>
      </>
    ),
  }
}

/** The style sheet shows the examples of the checked one; the script only remembers it. */
const Languages = ({ chosen }: { chosen: LanguageName }) => (
  <fieldset class="languages">
    <legend>Examples</legend>
    {LANGUAGES.map(({ name, title }) => (
      <label key={name}>
        <input type="radio" name="language" id={`in-${name}`} value={name} checked={name === chosen} />
        {title}
      </label>
    ))}
  </fieldset>
)

interface Families {
  readonly families: readonly Family[]
  readonly options: ReferenceOptions
}

const Basics = ({ families, options: { baseUrlOf, strict } }: Families) => {
  const isPublic = families.includes('helix')
  return (
    <dl class="basics">
      <Basic title="Base URL">
        {[...new Set(families.map(baseUrlOf))].map(url => [<code key={url}>{url}</code>, ' '])}
      </Basic>
      <Basic title="Tokens">
        <Prose text="Send the token as `Authorization: Bearer <token>`. Each operation lists the kind of token and the scope that it requires." />
      </Basic>
      {isPublic && strict && (
        <Basic title="Strict mode">
          <Prose text="On: requests that the real API would refuse are refused. Every request under `/helix` needs a token and its `Client-Id`." />
        </Basic>
      )}
      {isPublic && (
        <Basic title="Rate limits">
          <Prose text="Each request under `/helix` costs one point of a token bucket that refills within a minute. `Ratelimit-Remaining` is the number of points left, `Ratelimit-Reset` the time when the bucket is full again. With an empty bucket the answer is 429." />
        </Basic>
      )}
      <Basic title="Pagination">
        <Prose text="To get the next page of a list, send `pagination.cursor` as `after`. The last page has no cursor." />
      </Basic>
    </dl>
  )
}

const Basic = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
)

const FamilySection = ({ family, members, options }: FamilyMembers & { options: ReferenceOptions }) => (
  <section class="family" aria-labelledby={family}>
    <h2 id={family}>{TITLES[family]}</h2>
    <p>
      <Prose text={INTRODUCTIONS[family]} />
    </p>
    {[...byResource(family, members).values()].flat().map(each => (
      <OperationArticle key={each.id} operation={each} options={options} />
    ))}
  </section>
)

const EventsSection = () => (
  <section class="family" aria-labelledby="events">
    <h2 id="events">{EVENTS_TITLE}</h2>
    <p>
      <Prose text={EVENTS_INTRODUCTION} />
    </p>
    {EVENT_TYPES.map(each => (
      <EventArticle key={each.type} each={each} />
    ))}
  </section>
)

const EventArticle = ({ each }: { each: EventType }) => {
  const { type, version, summary, access } = each
  const scope = access.kind === 'editor' ? access.scope : ''
  return (
    <article id={type} aria-labelledby={`${type}-title`} data-words={`event ${summary} ${scope}`}>
      <header>
        <h3 id={`${type}-title`}>
          <a href={`#${type}`}>{type}</a>
        </h3>
        <p class="route">
          <code>version {version}</code>
        </p>
      </header>
      <div class="words">
        <p>
          <Prose text={summary} />
        </p>
        <dl class="access">
          <Basic title="Transport">{transportsInWords(each)}</Basic>
          <Basic title="Subscribers">
            <Prose text={subscribersInWords(each)} />
          </Basic>
        </dl>
        <Rows title="Condition">{fields(conditionFields(each))}</Rows>
        <Rows title="Event">{fields(answerFields(each.event))}</Rows>
      </div>
      <div class="examples">
        <TextExample title="Notification" text={JSON.stringify(exampleNotification(each), null, 2)} />
      </div>
    </article>
  )
}

const OperationArticle = ({ operation, options }: { operation: Operation; options: ReferenceOptions }) => {
  const { id, method, path, summary, description, example } = operation
  const status = operation.status ?? 200
  const family = familyOf(operation)
  return (
    <article
      id={id}
      aria-labelledby={`${id}-title`}
      data-words={`${method} ${path} ${summary} ${formatScopes(operation.access)}`}
      data-operation
    >
      <header>
        <h3 id={`${id}-title`}>
          <a href={`#${id}`}>{id}</a>
        </h3>
        <p class="route">
          <Verb method={method} />
          <code>{path}</code>
          {operation.demoOnly && <span class="tag">demo</span>}
        </p>
      </header>
      <div class="words">
        <p>
          <Prose text={description === undefined ? summary : `${summary} ${description}`} />
        </p>
        <dl class="access">
          <Basic title="Token">
            <Prose text={accessInWords(operation.access)} />
          </Basic>
          {family === 'helix' && <Basic title="Rate limit">one point</Basic>}
          {operation.exactlyOne && (
            <Basic title="Exactly one">
              <Prose text={operation.exactlyOne.map(name => `\`${name}\``).join(' or ')} />
            </Basic>
          )}
        </dl>
        <Rows title="Parameters">{parameters(operation)}</Rows>
        {operation.returns === undefined ? (
          <>
            <h4>Answer {status}</h4>
            <p>
              <Prose text={bodyInWords(operation)} />
            </p>
          </>
        ) : (
          <Rows title={`Answer ${status}`}>{fields(answerFields(operation.returns))}</Rows>
        )}
        <Rows title="Failures" kind="failures">
          {failures(operation)}
        </Rows>
      </div>
      <div class="examples">
        <RequestExample operation={operation} options={options} />
        {example.answer !== undefined && <TextExample title="Answer" text={exampleText(operation)} />}
      </div>
    </article>
  )
}

/** A body that is not one JSON document. */
function bodyInWords({ answerFile, answerLines }: Operation): string {
  if (answerLines !== undefined) return 'A stream of JSON lines.'
  if (answerFile === undefined) return 'No body.'
  const types = answerFile.map(each => `\`${each}\``).join(', ')
  return `A file, with its name in \`Content-Disposition\`: ${types}.`
}

function exampleText({ answerFile, example }: Operation): string {
  return answerFile === undefined ? JSON.stringify(example.answer, null, 2) : String(example.answer)
}

function formatScopes(access: Access): string {
  return access.kind === 'token' ? access.scopes.join(' ') : ''
}

const Rows = ({
  title,
  kind = '',
  children,
}: {
  title: string
  kind?: string
  children: readonly ComponentChildren[]
}) =>
  children.length === 0 ? null : (
    <>
      <h4>{title}</h4>
      <dl class={`entries ${kind}`.trim()}>{children}</dl>
    </>
  )

function parameters(operation: Operation): ComponentChildren[] {
  return listInputs(operation).map(({ name, place, schema, required, description }) => (
    <div key={name}>
      <dt>
        <code>{name}</code>
        <span>{place}</span>
        {required && <span class="must">required</span>}
      </dt>
      <dd>
        <Prose text={[typeInWords(schema, place), description].filter(Boolean).join('. ')} />
      </dd>
    </div>
  ))
}

function fields(all: readonly AnswerField[]): ComponentChildren[] {
  return all.map(({ name, type, notes, optional }) => (
    <div key={name}>
      <dt>
        <code>{name}</code>
        <span>
          <Prose text={type} />
        </span>
        {optional && <span>optional</span>}
      </dt>
      {notes !== '' && (
        <dd>
          <Prose text={notes} />
        </dd>
      )}
    </div>
  ))
}

function failures(operation: Operation): ComponentChildren[] {
  return [...groupByStatus(operation)].flatMap(([status, names]) =>
    names.map(name => (
      <div key={name}>
        <dt>
          <span class="status">{status}</span>
          <code>{name}</code>
        </dt>
        <dd>{problemMessage(name)}</dd>
      </div>
    )),
  )
}

/** The message of a problem, with an ellipsis for each detail. */
function problemMessage(name: ProblemName): string {
  const problemMessage = problems[name].message as (...details: string[]) => string
  return problemMessage(...Array.from({ length: problemMessage.length }, () => '…'))
}
