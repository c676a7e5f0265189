/** @jsxRuntime automatic @jsxImportSource preact */
/** The controls of a demo: its clock, planned faults, the scenario, and the reset. */
import { demoTable, fault, moveClock, removeFaults, reset, snapshot } from '../../../contract/admin/demo.ts'
import type { DemoControls } from '../../../operations/demo/demo-controls.ts'
import { Form } from '../../components/form.tsx'
import { Chevron } from '../../components/icon.tsx'
import { second } from '../../format/times.ts'
import type { Page } from '../../render/page.ts'
import { FactList } from '../cells.tsx'
import { ControlledInput } from '../form.tsx'
import { type ConsoleContext, consolePage } from '../frame.tsx'
import { actionFields } from '../input-fields.ts'
import type { OperatorApi } from '../operator-api.ts'
import { consolePath } from '../paths.ts'
import { PlainTable } from '../table.tsx'
import { doneText, type Query } from './list-page.tsx'

const STEPS: readonly (readonly [seconds: number, title: string])[] = [
  [60, '1 minute'],
  [3600, '1 hour'],
  [86_400, '1 day'],
]

export async function demoPage(
  context: ConsoleContext,
  api: OperatorApi,
  demo: DemoControls,
  query: Query,
): Promise<Page> {
  const { control } = api.client
  const [now, faults] = await Promise.all([control.readClock.one(), control.listFaults()])
  const { proof } = context
  return consolePage(context, {
    title: 'Demo',
    section: 'demo',
    done: doneText(demoTable, query.done),
    liveSeconds: 2,
    actions: (
      <>
        <a class="button" href={consolePath('demo', snapshot.form.path)}>
          {snapshot.form.title}
        </a>
        <a class="button danger" href={consolePath('demo', reset.form.path)}>
          {reset.form.title}
        </a>
      </>
    ),
    body: (
      <div class="demo">
        <section class="panel" aria-labelledby="clock-heading">
          <h2 id="clock-heading">Clock</h2>
          <p class="now num" data-live="clock">
            <time dateTime={now.now}>{second(now.now)}</time>{' '}
            <span class="quiet">{now.running ? 'running' : 'stopped'}</span>
          </p>
          <div class="actions">
            {STEPS.map(([seconds, title]) => (
              <Form
                key={seconds}
                action={consolePath('demo', moveClock.form.path)}
                fields={{ proof, advance_seconds: String(seconds) }}
              >
                <button type="submit">Forward {title}</button>
              </Form>
            ))}
            <Form
              action={consolePath('demo', moveClock.form.path)}
              fields={{ proof, running: String(!now.running) }}
            >
              <button type="submit">{now.running ? 'Stop the clock' : 'Let the clock run'}</button>
            </Form>
          </div>
          <Form class="set-clock" action={consolePath('demo', moveClock.form.path)} fields={{ proof }}>
            {actionFields(moveClock, false)
              .filter(({ name }) => name === 'time')
              .map(field => (
                <ControlledInput
                  key={field.name}
                  field={{ ...field, required: true, hint: 'The clock never moves back.' }}
                  value={now.now}
                  offers={[]}
                />
              ))}
            <button type="submit">Set the time</button>
          </Form>
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
              <summary>
                <Chevron />
                Show the scenario
              </summary>
              <pre class="code">{JSON.stringify(demo.world.scenario, null, 2)}</pre>
            </details>
          )}
        </section>
        <section class="panel" aria-labelledby="faults-heading">
          <h2 id="faults-heading">Planned faults</h2>
          <div data-live="faults">
            {faults.data.length === 0 ? (
              <p class="empty">{demoTable.empty}</p>
            ) : (
              <>
                <PlainTable
                  items={faults.data}
                  itemKey={each => String(faults.data.indexOf(each))}
                  columns={[
                    ['Operation', each => each.operation ?? 'Messages'],
                    ['Outcome', each => each.outcome.replaceAll('_', ' ')],
                    ['Calls left', each => each.times ?? 1, 'number'],
                  ]}
                />
                <Form action={consolePath('demo', removeFaults.form.path)} fields={{ proof }}>
                  <button type="submit">{removeFaults.form.title}</button>
                </Form>
              </>
            )}
          </div>
        </section>
        <section class="panel form" aria-labelledby="plan-heading">
          <h2 id="plan-heading">Plan a fault</h2>
          <Form action={consolePath('demo', fault.form.path)} fields={{ proof }}>
            {actionFields(fault, false).map(field => (
              <ControlledInput key={field.name} field={field} value="" offers={[]} />
            ))}
            <div class="actions">
              <button type="submit" class="primary">
                {fault.form.title}
              </button>
            </div>
          </Form>
        </section>
      </div>
    ),
  })
}
