/** Programs of the system that call the real API through `strand demo --proxy`, unmodified: curl and Python. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { World } from '../../src/testing/start-strand.ts'
import { endAllProcesses, environmentOf, StrandProcess } from '../support/cli/strand-process.ts'

let proxy: NonNullable<World['proxy']>
beforeAll(async () => {
  const strand = new StrandProcess(['demo', '--port', '0', '--proxy', '0', '--no-rtmp', '--json'])
  const world = JSON.parse(await strand.until(({ stdout }) => stdout.includes('\n') && stdout)) as World
  if (world.proxy === undefined) throw new Error('the world has no proxy')
  proxy = world.proxy
})
afterAll(endAllProcesses)

async function run(words: readonly string[]): Promise<string> {
  const { url, certificate_file: file } = proxy
  const child = Bun.spawn([...words], {
    env: environmentOf({ HTTPS_PROXY: url, SSL_CERT_FILE: file, CURL_CA_BUNDLE: file }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  return output + errors
}

const curl = Bun.which('curl')
const python = Bun.which('python3')

test.skipIf(curl === null)('curl', async () => {
  expect(await run(['curl', '-sS', 'https://api.twitch.tv/helix/streams?first=1'])).toStartWith(
    '{"data":[{"id":',
  )
  expect(await run(['curl', '-sS', 'https://example.com/'])).toContain('403')
})

test.skipIf(python === null)('urllib of Python', async () => {
  const script = `import json, urllib.request
with urllib.request.urlopen("https://api.twitch.tv/helix/streams?first=1") as answer:
    print(answer.status, json.load(answer)["data"][0]["type"])`
  expect(await run(['python3', '-c', script])).toBe('200 live\n')
})
