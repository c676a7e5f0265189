import { afterAll, beforeAll, describe } from 'bun:test'
import {
  type EngineName,
  engines,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../server.ts'

/** Runs the same tests on a server of each store; `server()` is theirs once they run, `engine` names its store. */
export function onEachStore(
  title: string,
  options: TestServerOptions,
  body: (server: () => TestServer, engine: EngineName) => void,
): void {
  for (const engine of engines) {
    describe(`${title} on ${engine}`, () => {
      let server: TestServer
      beforeAll(async () => {
        server = await startTestServer(engine, options)
      })
      afterAll(() => server.stop())
      body(() => server, engine)
    })
  }
}
