import { expect, test } from 'bun:test'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { RtmpServer } from '../../src/media/rtmp-server.ts'
import { AVC } from '../support/media/codecs.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'

/** The runtime looks at timeouts every four seconds, so five take up to twelve. */
const LONG_ENOUGH_MILLISECONDS = 13_000

test('a publisher stays connected as long as it sends, and is disconnected when it is silent', async () => {
  const log = createLog({ level: 'silent', readable: false, write: () => undefined })
  const grant = { media: () => undefined, end: () => undefined }
  const ingest = { authorize: async () => grant }
  const server = new RtmpServer({ hostname: '127.0.0.1', port: 0, ingest, log, silentSeconds: 5 })
  const [sending, silent] = [await RtmpClient.connect(server.port), await RtmpClient.connect(server.port)]
  for (const client of [sending, silent]) expect(await client.publish('key')).toBe('NetStream.Publish.Start')
  for (let passed = 0; passed < LONG_ENOUGH_MILLISECONDS; passed += 250) {
    sending.video(passed, AVC.frame())
    await Bun.sleep(250)
  }
  expect([sending.isClosed, silent.isClosed]).toEqual([false, true])
  sending.close()
  server.stop()
})
