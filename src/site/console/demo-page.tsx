/** @jsxRuntime automatic @jsxImportSource preact */
/** The controls of a demo: its clock, planned faults, the scenario, and the reset. */
import { helixOperations, oauthOperations } from '../../contract/index.ts'
import type { DemoControls } from '../../operations/demo-controls.ts'
import { Form } from '../components/form.tsx'
import type { Page } from '../page.ts'
import { FactList, Time } from './cells.tsx'
import { ControlledInput } from './form.tsx'
import { consolePage, type Desk } from './frame.tsx'
import { actionFields } from './input-fields.ts'
import { doneText, type Query } from './list-page.tsx'
import type { OperatorApi } from './operator-api.ts'
import { pathOf } from './paths.ts'
import { act, type Resource } from './resource.ts'
import { PlainTable } from './table.tsx'

const clock = act('clock', 'Move the clock', 'advanceClock', 'The clock was moved.')
const fault = act('fault', 'Plan fault', 'planFault', 'The fault is planned.', { omit: ['where'] })
const clearFaults = act('clear-faults', 'Remove all faults', 'clearFaults', 'No faults are planned.')
const snapshot = act('snapshot', 'Save snapshot', 'saveSnapshot', 'A reset returns to this state.')
const reset = act('reset', 'Reset the demo', 'resetWorld', 'The demo starts again.', { asks: 'once' })

/** Its actions are on no row. */
export const DEMO: Resource = {
  path: 'demo',
  title: 'Demo',
  one: 'fault',
  group: 'System',
  list: 'listFaults',
  key: 'operation',
  name: 'operation',
  columns: ['operation', 'outcome', 'times'],
  empty: 'No faults are planned.',
  actions: [clock, fault, clearFaults, snapshot, reset],
  listActions: [clock, fault, clearFaults, snapshot, reset],
}

const STEPS: readonly (readonly [seconds: number, title: string])[] = [
  [60, '1 minute'],
  [3600, '1 hour'],
  [86_400, '1 day'],
]

const OPERATIONS = Object.values({ ...helixOperations, ...oauthOperations }).map(
  ({ id }) => [id, ''] as const,
)

export async function demoPage(
  desk: Desk,
  api: OperatorApi,
  demo: DemoControls,
  query: Query,
): Promise<Page> {
  const { control } = api.client
  const [now, faults] = await Promise.all([control.readClock.one(), control.listFaults()])
  const { proof } = desk
  return consolePage(desk, {
    title: 'Demo',
    section: 'demo',
    done: doneText(DEMO, query.done),
    liveSeconds: 2,
    actions: (
      <>
        <a class="button" href={pathOf('demo', snapshot.path)}>
          {snapshot.title}
        </a>
        <a class="button danger" href={pathOf('demo', reset.path)}>
          {reset.title}
        </a>
      </>
    ),
    body: (
      <div class="columns stacked">
        <section class="panel" aria-labelledby="clock-heading">
          <h2 id="clock-heading">Clock</h2>
          <p class="now num" data-live="clock">
            <Time iso={now.now} /> <span class="quiet">{now.running ? 'running' : 'stopped'}</span>
          </p>
          <div class="actions">
            {STEPS.map(([seconds, title]) => (
              <Form
                key={seconds}
                action={pathOf('demo', clock.path)}
                fields={{ proof, advance_seconds: String(seconds) }}
              >
                <button type="submit">Forward {title}</button>
              </Form>
            ))}
            <Form action={pathOf('demo', clock.path)} fields={{ proof, running: String(!now.running) }}>
              <button type="submit">{now.running ? 'Stop the clock' : 'Let the clock run'}</button>
            </Form>
          </div>
        </section>
        <section class="panel" aria-labelledby="scenario-heading">
          <h2 id="scenario-heading">Scenario</h2>
          <FactList
            facts={[
              ['Seed', String(demo.world?.seed ?? '–')],
              ['Live channels at the start', String(demo.world?.streams ?? '–')],
              ['Scenario file', demo.world?.scenario === undefined ? 'None' : 'Given'],
            ]}
          />
          {demo.world?.scenario !== undefined && (
            <details>
              <summary>Show the scenario</summary>
              <pre class="code">{JSON.stringify(demo.world.scenario, null, 2)}</pre>
            </details>
          )}
        </section>
        <section class="panel" aria-labelledby="faults-heading">
          <h2 id="faults-heading">Planned faults</h2>
          <div data-live="faults">
            {faults.data.length === 0 ? (
              <p class="empty">{DEMO.empty}</p>
            ) : (
              <>
                <PlainTable
                  items={faults.data}
                  keyOf={each => String(faults.data.indexOf(each))}
                  columns={[
                    ['Operation', each => each.operation ?? 'Messages'],
                    ['Outcome', each => each.outcome.replaceAll('_', ' ')],
                    ['Calls left', each => each.times ?? 1, 'number'],
                  ]}
                />
                <Form action={pathOf('demo', clearFaults.path)} fields={{ proof }}>
                  <button type="submit">{clearFaults.title}</button>
                </Form>
              </>
            )}
          </div>
        </section>
        <section class="panel" aria-labelledby="plan-heading">
          <h2 id="plan-heading">Plan a fault</h2>
          <Form action={pathOf('demo', fault.path)} fields={{ proof }}>
            {actionFields(fault, false).map(field => (
              <ControlledInput
                key={field.name}
                field={field}
                value=""
                offers={field.name === 'operation' ? OPERATIONS : []}
              />
            ))}
            <button type="submit" class="primary">
              {fault.title}
            </button>
          </Form>
        </section>
      </div>
    ),
  })
}
