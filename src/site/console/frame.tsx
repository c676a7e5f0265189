/** @jsxRuntime automatic @jsxImportSource preact */
/** What every page of the console has around it: navigation, search, the operator who is logged in. */

import type { ComponentChildren } from 'preact'
import type { Operator } from '../../auth/operator-sessions.ts'
import { VERSION } from '../../config/version.ts'
import { tables } from '../../contract/admin/index.ts'
import { GROUPS } from '../../contract/admin/resource.ts'
import { Form, Notice } from '../components/form.tsx'
import { Icon, Mark, MENU, SEARCH } from '../components/icon.tsx'
import { ConsoleLive } from '../islands/console-live.tsx'
import type { Page } from '../render/page.ts'
import { Now } from './cells.tsx'
import { CONSOLE, consolePath } from './paths.ts'

/** The operator and the installation that a page is for. */
export interface ConsoleContext {
  readonly operator: Operator
  /** Part of every form. */
  readonly proof: string
  readonly isDemo: boolean
  /** The time of the server, in milliseconds since 1970. */
  readonly now: number
}

interface Content {
  readonly title: string
  /** The entry of the navigation that the page belongs to, by its path. */
  readonly section: string
  /** Where the page is, the widest first. */
  readonly trail?: readonly (readonly [title: string, path: string])[]
  /** Beside the heading. */
  readonly actions?: ComponentChildren
  readonly body: ComponentChildren
  /** Parts of the page that carry `data-live` are refreshed this often. */
  readonly liveSeconds?: number
  readonly done?: string | undefined
  readonly violation?: string | undefined
  readonly query?: string | undefined
  readonly status?: number | undefined
}

export const OVERVIEW = ''

export function consolePage(context: ConsoleContext, content: Content): Page {
  const { title, trail = [], violation } = content
  return {
    title: `${title} · Console`,
    status: content.status ?? 200,
    isWhole: true,
    style: 'console',
    body: (
      <div class="console">
        <header class="rail">
          <Brand />
          <Navigation section={content.section} isDemo={context.isDemo} />
          <Who {...context} />
        </header>
        <div class="stage">
          <div class="strip">
            <details class="menu">
              <summary>
                <Icon shape={MENU} />
                Menu
              </summary>
              <Navigation section={content.section} isDemo={context.isDemo} />
              <Who {...context} />
            </details>
            <search class="search">
              <form method="get" action={consolePath('search')}>
                <Icon shape={SEARCH} />
                <input
                  type="search"
                  name="q"
                  value={content.query ?? ''}
                  maxLength={100}
                  aria-label="Search by name, login or ID"
                  placeholder="Search by name, login or ID"
                  autocomplete="off"
                  spellcheck={false}
                />
                <kbd title="Press / to search">/</kbd>
              </form>
            </search>
            {content.liveSeconds !== undefined && <ConsoleLive seconds={content.liveSeconds} />}
          </div>
          <main id="content">
            {trail.length > 0 && (
              <nav class="trail" aria-label="Breadcrumb">
                {trail.map(([name, path]) => (
                  <a key={path} href={path}>
                    {name}
                  </a>
                ))}
              </nav>
            )}
            <div class="heading">
              <h1>{title}</h1>
              {content.actions !== undefined && <div class="actions">{content.actions}</div>}
            </div>
            <Notice kind="good" sentence={content.done} />
            <Notice kind="bad" sentence={violation} />
            <Now.Provider value={context.now}>{content.body}</Now.Provider>
          </main>
          <footer class="console-foot num">
            <span>Exact times are UTC</span> <span>Strand {VERSION}</span>
          </footer>
        </div>
      </div>
    ),
  }
}

const Brand = () => (
  <a class="brand" href={CONSOLE}>
    <Mark />
    <span>Strand</span>
    <span class="quiet">Console</span>
  </a>
)

function Navigation({ section, isDemo }: { section: string; isDemo: boolean }) {
  const others = { System: [['doctor', 'Doctor'], ...(isDemo ? [['demo', 'Demo']] : [])] }
  const link = (path: string, title: string) => (
    <li key={path}>
      <a
        href={path === OVERVIEW ? CONSOLE : consolePath(path)}
        {...(section === path && { 'aria-current': 'page' })}
      >
        {title}
      </a>
    </li>
  )
  return (
    <nav aria-label="Console">
      <ul>{link(OVERVIEW, 'Overview')}</ul>
      {GROUPS.map(group => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>
            {tables.filter(each => each.group === group).map(({ path, title }) => link(path, title))}
            {group === 'System' && others.System.map(([path = '', title = '']) => link(path, title))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

const Who = ({ operator, proof }: ConsoleContext) => (
  <div class="who">
    <span title="The name in the audit log">
      {operator.name === null ? 'operator' : `operator/${operator.name}`}
    </span>
    <Form action={consolePath('logout')} fields={{ proof }}>
      <button type="submit" class="plain">
        Log out
      </button>
    </Form>
  </div>
)
