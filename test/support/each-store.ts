import { afterAll, beforeAll, describe } from 'bun:test'
import { engines, startTestServer, type TestServer, type TestServerOptions } from './server.ts'

/** Runs the same tests on a server of each store; `server()` is theirs once they run. */
export function onEachStore(
  title: string,
  options: TestServerOptions,
  body: (server: () => TestServer) => void,
): void {
  for (const engine of engines) {
    describe(`${title} on ${engine}`, () => {
      let server: TestServer
      beforeAll(async () => {
        server = await startTestServer(engine, options)
      })
      afterAll(() => server.stop())
      body(() => server)
    })
  }
}
