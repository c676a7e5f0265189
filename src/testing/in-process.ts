import { checkScenario, readScenarioFile } from '../demo/read-scenario.ts'
import { serveDemo } from '../serve-demo.ts'
import type { DemoWish, StartedDemo } from './start-strand.ts'

/** A demo in this process, which is Bun's. */
export async function startInProcess(wish: DemoWish): Promise<StartedDemo> {
  const { scenario, port } = wish
  return serveDemo({
    ...wish,
    port: String(port),
    scenario: typeof scenario === 'string' ? readScenarioFile(scenario) : scenario && checkScenario(scenario),
    movingViewers: false,
  })
}
