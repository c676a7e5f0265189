/** A proxy that no setting names makes all of its clients one address: the log and the doctor report it. */
import { expect, test } from 'bun:test'
import { Networks } from '../../src/kit/networks.ts'
import { startTestServer } from '../support/server.ts'

async function askThroughProxy(trustedProxies: Networks) {
  const server = await startTestServer('sqlite', { config: { trustedProxies, logLevel: 'warn' } })
  try {
    for (const address of ['203.0.113.7', '203.0.113.8', '203.0.113.9'])
      await fetch(`${server.url}/oauth2/keys`, { headers: { 'X-Forwarded-For': address } })
    return server.logLines.filter(line => line.includes('X-Forwarded-For')).map(line => JSON.parse(line))
  } finally {
    await server.stop()
  }
}

test('is named once in the log, with what to do', async () => {
  const lines = await askThroughProxy(new Networks())
  expect(lines).toMatchObject([{ level: 'warn', peer: '127.0.0.1' }])
  expect(lines[0].msg).toContain('STRAND_TRUSTED_PROXIES')
})

test('is not mentioned if the setting names it', async () => {
  const trusted = new Networks()
  trusted.add('127.0.0.1', 32)
  expect(await askThroughProxy(trusted)).toEqual([])
})
