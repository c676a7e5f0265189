import { expect, test } from 'bun:test'
import { serveDemo } from '../../src/server/serve-demo.ts'
import { freePort } from '../support/store/postgres.ts'

test('demos that are started at once take encoders on a port each', async () => {
  const rtmpPort = await freePort()
  const options = {
    port: 0,
    rtmpPort,
    seed: 7,
    streams: 1,
    movingViewers: false,
    settings: { STRAND_LOG: 'error' },
  }
  const demos = await Promise.all([serveDemo(options), serveDemo(options), serveDemo(options)])
  const urls = demos.map(({ world }) => world.rtmp?.url)
  expect(urls).toContain(`rtmp://localhost:${rtmpPort}/live`)
  expect(new Set(urls).size).toBe(3)
  for (const demo of demos) await demo.stop()
})
