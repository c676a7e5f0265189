/** docs/events.md: its table is that of the contract, and its examples run unchanged but for ports and ids. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses, ROOT } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const page = readFileSync('docs/events.md', 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text)
const [subscribing = '', testing = '', operating = ''] = blocks('sh')
const [receiving = ''] = blocks('ts')

const shell = new Shell()
let folder = ''
// biome-ignore lint/suspicious/noExplicitAny: the world, as JSON gave it
let world: any
beforeAll(async () => {
  folder = mkdtempSync(join(ROOT, 'test', 'events', '.examples-'))
  const demo = shell.start(`strand demo --port ${await freePort()} --streams 200 --json`)
  world = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout))
  shell.write('operator-token', `${world.operator_token}\n`)
})
afterAll(async () => {
  await endAllProcesses()
  rmSync(folder, { recursive: true, force: true })
  shell.remove()
})

test('the table lists every type with its version, condition and transports', () => {
  const rows = [...page.matchAll(/^\| `([a-z.]+)` \| (\d) \| (.*?) \| (.*?) \|/gm)].map(
    ([, type, version, condition = '', transports]) => ({
      type,
      version,
      condition: [...condition.matchAll(/`(\w+)`/g)].map(([, name]) => name),
      transports,
    }),
  )
  expect(rows).toEqual(
    EVENT_TYPES.map(({ type, version, condition, transports }) => ({
      type,
      version,
      condition: Object.keys(condition.properties),
      transports: transports.join(', ').replace('websocket', 'WebSocket'),
    })),
  )
})

test('the request creates a subscription', async () => {
  const line = subscribing.replace('http://localhost:8080', world.base_url)
  const answer = JSON.parse(await shell.output(line, { APP_TOKEN: world.client.app_token }))
  expect(answer.data[0]).toMatchObject({
    type: 'stream.online',
    status: 'webhook_callback_verification_pending',
  })
})

test('the receiver passes the checks', async () => {
  const port = String(await freePort())
  const file = join(folder, 'receiver.ts')
  writeFileSync(
    file,
    receiving.replace("'strand-server/client'", "'../../../src/client/index.ts'").replace('3000', port),
  )
  const secret = /--secret "([^"]+)"/.exec(testing)?.[1] ?? ''
  const receiver = shell.start(`"${process.execPath}" "${file}"`, { EVENT_SECRET: secret })
  const url = `http://localhost:${port}/`
  while (
    !(await fetch(url, { method: 'POST' }).then(
      () => true,
      () => false,
    ))
  )
    await Bun.sleep(20)
  const lines = testing.trim().replaceAll('http://localhost:3000/', url).split('\n')
  expect(lines.length).toBe(2)
  for (const line of lines) expect(await shell.output(line)).toMatch(/^(204 after|ok)/)
  await receiver.until(({ stdout }) => stdout.includes('stream.online') && stdout.includes('ended:'))
})

test('the commands for operators run', async () => {
  const lines = operating.trim().split('\n')
  expect(lines.length).toBeGreaterThanOrEqual(5)
  const flags = `--url ${world.base_url} --token-file operator-token`
  const [delivery] = await shell.ask(`strand event delivery list ${flags}`)
  for (const line of lines) {
    const here = line.replace(/resend \S+/, `resend ${delivery.id}`).replace(/tail$/, 'tail --help')
    await shell.output(`${here} ${flags}`)
  }
})
