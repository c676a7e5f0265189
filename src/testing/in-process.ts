import { checkScenario, readScenarioFile } from '../demo/read-scenario.ts'
import { serveDemo } from '../server/serve-demo.ts'
import type { DemoRequest, StartedDemo } from './demo-request.ts'

/** Starts a demo in this process, which must be Bun. */
export async function startInProcess(request: DemoRequest): Promise<StartedDemo> {
  const { scenario } = request
  return serveDemo({
    ...request,
    scenario: typeof scenario === 'string' ? readScenarioFile(scenario) : scenario && checkScenario(scenario),
    movingViewers: false,
  })
}
