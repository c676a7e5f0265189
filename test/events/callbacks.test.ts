/** Callbacks with the settings of a server for the public, and with a certificate authority of a setting. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newChannel } from '../operations/helix/channels.ts'
import { CertificateAuthority } from '../support/server/certificate.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { startTestServer } from '../support/server.ts'
import { Receiver, SECRET, statusOf, subscribe, subscribed, until } from './receiver.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-callbacks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

onEachStore('a server for the public', { demo: false, config: { eventRetries: [0] } }, server => {
  const HOSTS = [
    '127.0.0.1',
    '[::1]',
    '2130706433',
    '0x7f.1',
    'localhost',
    '10.0.0.1',
    '169.254.169.254',
    '[::ffff:7f00:1]',
  ]

  test('202 for callbacks to inner addresses, whose verification fails without a request', async () => {
    const { id: broadcaster_user_id } = await newChannel(server())
    const ids: string[] = []
    for (const host of HOSTS) {
      const wanted = {
        type: 'stream.online',
        condition: { broadcaster_user_id },
        callback: `https://${host}/hook`,
      }
      ids.push(await subscribe(server(), wanted))
    }
    for (const id of ids)
      await until(async () => (await statusOf(server(), id)) === 'webhook_callback_verification_failed')
    const rows = await server().execute(
      'select distinct answer, answer_status, attempts from event_deliveries',
    )
    expect(rows).toEqual([
      { answer: 'the address of the callback is not public', answer_status: null, attempts: 2 },
    ])
  })

  test('a subscription from before the rule became stricter gets no request', async () => {
    let connections = 0
    const canary: Server = createServer(socket => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>(resolve => canary.listen(0, '127.0.0.1', resolve))
    const { port } = canary.address() as { port: number }
    const { id: broadcaster_user_id } = await newChannel(server())
    const callback = 'https://example.invalid/hook'
    const id = await subscribe(server(), {
      type: 'stream.online',
      condition: { broadcaster_user_id },
      callback,
    })
    await until(async () => (await statusOf(server(), id)) === 'webhook_callback_verification_failed')
    const target = `webhook:127.0.0.1:${port}`
    await server().execute(
      `update event_subscriptions set status = 'enabled', ended_at = null, target = '${target}',
         callback = 'http://127.0.0.1:${port}/hook' where id = '${id}'`,
    )
    await server().control('PUT', `/channels/${broadcaster_user_id}/stream`, {})
    await until(async () => (await statusOf(server(), id)) === 'notification_failures_exceeded')
    expect(connections).toBe(0)
    canary.close()
  })
})

describe('a certificate authority of a setting', () => {
  test('is trusted for callbacks, and without it they fail', async () => {
    const authority = new CertificateAuthority()
    const eventAuthority = join(folder, 'ca.pem')
    writeFileSync(eventAuthority, authority.cert)
    const receiver = new Receiver(SECRET, authority.issue('localhost'))
    for (const trusts of [true, false]) {
      const server = await startTestServer('sqlite', {
        config: { eventRetries: [0], ...(trusts && { eventAuthority }) },
      })
      const { id: broadcaster_user_id } = await newChannel(server)
      const wanted = { type: 'stream.online', condition: { broadcaster_user_id }, callback: receiver.url() }
      receiver.received.length = 0
      if (trusts) {
        await subscribed(server, wanted)
        await server.control('PUT', `/channels/${broadcaster_user_id}/stream`, {})
        await until(() => receiver.notifications().length === 1)
      } else {
        const id = await subscribe(server, wanted)
        await until(async () => (await statusOf(server, id)) === 'webhook_callback_verification_failed')
        expect(receiver.received).toEqual([])
      }
      await server.stop()
    }
    await receiver.stop()
  })

  test('a file without a certificate keeps the server from starting', async () => {
    const eventAuthority = join(folder, 'empty.pem')
    writeFileSync(eventAuthority, '')
    expect(startTestServer('sqlite', { config: { eventAuthority } })).rejects.toThrow('give a PEM file')
  })
})
