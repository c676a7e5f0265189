/** @jsxRuntime automatic @jsxImportSource preact */
/** Renders a page into an HTML document with header and footer, and decides which scripts it loads. */
import type { ComponentChildren } from 'preact'
import { renderToStaticMarkup, renderToString } from 'preact-render-to-string'
import { VERSION } from '../../config/version.ts'
import type { Session } from '../../store/queries/accounts.ts'
import { fontPath, islandScripts, stylePath } from '../build/assets.ts'
import { Avatar } from '../components/avatar.tsx'
import { Mark } from '../components/icon.tsx'
import { SearchForm } from '../components/search-form.tsx'
import { plainText } from '../format/plain-text.ts'
import { SearchField } from '../islands/search-field.tsx'
import { UsedIslands } from '../scripts/island.tsx'
import { GRANT_NAME } from '../scripts/page-token.ts'
import type { Page, Section, Theme } from './page.ts'
import { SummaryTags } from './summary.tsx'

/** The visitor that a page is rendered for. */
interface Visitor {
  readonly session: Session | undefined
  readonly signUp: boolean
  /** The path to return to after log-in. Query strings are not repeated: they may contain anything. */
  readonly here: string
  /** Drops that the user can claim. */
  readonly claimable: number
}

export interface Document {
  readonly html: string
  readonly hasScript: boolean
}

interface DocumentOptions {
  readonly visitor: Visitor | 'operator'
  readonly theme: Theme | undefined
  readonly publicUrl: string
  /**
   * The grant that scripts exchange for a token. A page without islands carries none, and neither does one of the operator
   * console, whose scripts only read its pages.
   */
  grant(): string
}

export async function renderDocument(
  page: Page,
  { visitor, theme, publicUrl, grant }: DocumentOptions,
): Promise<Document> {
  const islands = new Set<string>()
  const render = (part: ComponentChildren) =>
    renderToString(<UsedIslands.Provider value={islands}>{part}</UsedIslands.Provider>)
  const main = <main id="content">{page.body}</main>
  const style = page.style ?? 'form'
  const content = render(page.isWhole ? page.body : main)
  // Pages without a script stay so; among them are those with a form for passwords or consent.
  const hasSuggestions = page.query !== undefined || (style !== 'docs' && islands.size > 0)
  const header =
    visitor === 'operator' ? (
      <OperatorHeader isReference={page.listener === 'operator'} />
    ) : (
      <Header section={page.section} query={page.query} hasSuggestions={hasSuggestions} visitor={visitor} />
    )
  const skip = (
    <a class="skip" href="#content">
      Skip to content
    </a>
  )
  const body = page.isWhole
    ? render(skip) + content
    : render(skip) + render(header) + content + render(<Footer />)
  const styles = await Promise.all(['site', style].map(stylePath))
  const font = await fontPath()
  const scripts = await Promise.all([...islands].map(islandScripts))
  const shared = new Set(scripts.flatMap(({ imports }) => imports))
  const head = renderToStaticMarkup(
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{page.title === 'Strand' ? page.title : `${plainText(page.title)} · Strand`}</title>
      {page.summary === undefined || visitor === 'operator' ? (
        <meta name="robots" content="noindex" />
      ) : (
        <SummaryTags title={page.title} summary={page.summary} publicUrl={publicUrl} />
      )}
      <link rel="icon" href="/favicon.ico" sizes="32x32" />
      <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
      <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
      {visitor !== 'operator' && <link rel="manifest" href="/manifest.webmanifest" />}
      <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f6f6f9" />
      <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0e0f14" />
      <link rel="preload" as="font" type="font/woff2" crossorigin="anonymous" href={font} />
      {styles.map(path => (
        <link key={path} rel="stylesheet" href={path} />
      ))}
      {islands.size > 0 && visitor !== 'operator' && <meta name={GRANT_NAME} content={grant()} />}
      {[...shared].map(path => (
        <link key={path} rel="modulepreload" href={path} />
      ))}
      {scripts.map(({ path }) => (
        <script key={path} type="module" src={path} />
      ))}
    </head>,
  )
  return {
    html: `<!doctype html>\n<html lang="en"${theme === undefined ? '' : ` data-theme="${theme}"`}>${head}<body class="${style}-page">${body}</body></html>\n`,
    hasScript: islands.size > 0,
  }
}

const NAVIGATION: readonly (readonly [Section, path: string, title: string, forUsers: boolean])[] = [
  ['live', '/', 'Live', false],
  ['games', '/games', 'Games', false],
  ['drops', '/drops', 'Drops', false],
  ['studio', '/studio', 'Studio', true],
]

function Header({
  section,
  query,
  hasSuggestions,
  visitor,
}: {
  section: Section | undefined
  query: string | undefined
  hasSuggestions: boolean
  visitor: Visitor
}) {
  const { session } = visitor
  return (
    <header class="bar">
      <div class="start">
        <a class="brand" href="/" aria-label="Strand, home">
          <Mark />
          <span class="name">Strand</span>
        </a>
        <nav aria-label="Site">
          {NAVIGATION.filter(([, , , forUsers]) => !forUsers || session !== undefined).map(
            ([name, path, title]) => (
              <a key={path} href={path} {...(section === name && { 'aria-current': 'page' })}>
                {title}
                {name === 'drops' && visitor.claimable > 0 && <Claimable count={visitor.claimable} />}
              </a>
            ),
          )}
        </nav>
      </div>
      <search class="search">
        {hasSuggestions ? <SearchField query={query ?? ''} /> : <SearchForm query={query ?? ''} />}
      </search>
      <div class="end">
        {session === undefined ? <LogIn {...visitor} /> : <Me session={session} section={section} />}
      </div>
    </header>
  )
}

const Claimable = ({ count }: { count: number }) => (
  <span class="count num">
    {count > 99 ? '99+' : count}
    <span class="hidden-text"> to claim</span>
  </span>
)

/** The control API has a listener without the site: its pages link only to each other. */
const OperatorHeader = ({ isReference }: { isReference: boolean }) => (
  <header class="bar">
    <div class="start">
      <a class="brand" href="/console" aria-label="Strand console">
        <Mark />
        <span class="name">Strand</span>
      </a>
      <nav aria-label="Site">
        <a href="/console">Console</a>
        <a href="/docs" {...(isReference && { 'aria-current': 'page' as const })}>
          API reference
        </a>
      </nav>
    </div>
  </header>
)

const LogIn = ({ here, signUp }: Visitor) => {
  const next = encodeURIComponent(/^\/(login|signup|logout)\b/.test(here) ? '/' : here)
  return (
    <>
      <a class="button" href={`/login?next=${next}`}>
        Log in
      </a>
      {signUp && (
        <a class="button primary" href={`/signup?next=${next}`}>
          Sign up
        </a>
      )}
    </>
  )
}

const Me = ({ session, section }: { session: Session; section: Section | undefined }) => (
  <a
    class="me"
    href="/account"
    aria-label={`${session.display_name}, your account`}
    {...(section === 'account' && { 'aria-current': 'page' })}
  >
    <Avatar user_id={session.user_id} size={28} />
    <span>{session.display_name}</span>
  </a>
)

const Footer = () => (
  <footer class="foot">
    <a href="/docs">API reference</a>
    <a href="/openapi.json">OpenAPI</a>
    <span class="version num">Strand {VERSION}</span>
  </footer>
)
