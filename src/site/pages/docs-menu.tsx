/** @jsxRuntime automatic @jsxImportSource preact */
/** The menu of the reference: what it contains, in groups that fold. */
import type { ComponentChildren } from 'preact'
import { EVENT_TYPES } from '../../contract/events/event-types.ts'
import type { Family, Operation } from '../../contract/operation.ts'
import { EVENTS_TITLE } from '../../contract/reference/events.ts'
import { TITLES } from '../../contract/reference/markdown.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { Chevron } from '../components/icon.tsx'
import { GUIDES } from './docs-guide.tsx'

export interface FamilyMembers {
  readonly family: Family
  readonly members: readonly Operation[]
}

export const ReferenceMenu = ({ shown }: { shown: readonly FamilyMembers[] }) => (
  <>
    {shown.some(({ family }) => family === 'helix') && (
      <Group title="Guide" isOpen>
        <ul>
          {Object.entries(GUIDES).map(([id, title]) => (
            <Entry key={id} id={id}>
              {title}
            </Entry>
          ))}
        </ul>
      </Group>
    )}
    {shown.map(({ family, members }) => [
      <FamilyMenu key={family} family={family} members={members} />,
      family === 'helix' && <EventMenu key="events" />,
    ])}
  </>
)

/** The control API has so many groups that they are folded; the script unfolds the one that is being read. */
const FamilyMenu = ({ family, members }: FamilyMembers) => (
  <Group title={TITLES[family]} isOpen>
    <ul>
      <Overview id={family} />
    </ul>
    {[...byResource(family, members)].map(([resource, each]) => {
      const entries = (
        <ul>
          {each.map(({ id, method }) => (
            <Entry key={id} id={id}>
              <Verb method={method} short />
              {id}
            </Entry>
          ))}
        </ul>
      )
      if (resource === '') return entries
      const title = resourceTitle(resource)
      if (family === 'control')
        return (
          <Group key={resource} title={title} count={each.length}>
            {entries}
          </Group>
        )
      return (
        <div key={resource} class="group">
          <p class="resource">{title}</p>
          {entries}
        </div>
      )
    })}
  </Group>
)

const EventMenu = () => (
  <Group title={EVENTS_TITLE} isOpen>
    <ul>
      <Overview id="events" />
      {EVENT_TYPES.map(({ type }) => (
        <Entry key={type} id={type}>
          {type}
        </Entry>
      ))}
    </ul>
  </Group>
)

interface GroupProps {
  readonly title: string
  readonly count?: number
  readonly isOpen?: boolean
  readonly children: ComponentChildren
}

const Group = ({ title, count, isOpen = false, children }: GroupProps) => (
  <details class="group" open={isOpen}>
    <summary>
      <Chevron />
      {title}
      {count !== undefined && <span class="count num">{count}</span>}
    </summary>
    {children}
  </details>
)

const Overview = ({ id }: { id: string }) => (
  <li class="overview">
    <a href={`#${id}`}>Overview</a>
  </li>
)

const Entry = ({ id, children }: { id: string; children: ComponentChildren }) => (
  <li>
    <a href={`#${id}`}>{children}</a>
  </li>
)

export const Verb = ({ method, short = false }: { method: string; short?: boolean }) => (
  <span class={`verb ${method}`}>{short && method === 'DELETE' ? 'DEL' : method}</span>
)

/** Long families are grouped by the first segment of their paths. */
export function byResource(family: Family, members: readonly Operation[]): Map<string, readonly Operation[]> {
  if (family !== 'control' && family !== 'helix') return new Map([['', members]])
  return Map.groupBy(members, ({ path }) => assertDefined(path.split('/')[2], `the resource of ${path}`))
}

function resourceTitle(resource: string): string {
  if (resource === 'eventsub') return 'EventSub'
  return resource.charAt(0).toUpperCase() + resource.slice(1).replaceAll(/[-_]/g, ' ')
}
