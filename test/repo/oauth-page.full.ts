/** docs/oauth.md can be pasted into a shell from beginning to end, against a server like the demo. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allow, loggedIn } from '../support/browser/consent.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const page = readFileSync('docs/oauth.md', 'utf8')
const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Does in a browser what the page asks the reader to do, whenever the script prints an address. */
async function followAddresses(server: TestServer, output: ReadableStream<Uint8Array>): Promise<string> {
  const person = await loggedIn(server)
  let text = ''
  let seen = 0
  for await (const piece of output) {
    text += new TextDecoder().decode(piece)
    const addresses = text.match(/http:\S+\/(?:oauth2\/authorize\?|activate\?)\S*(?=\s)/g) ?? []
    for (const address of addresses.slice(seen)) {
      const { pathname, search } = new URL(address)
      if (pathname === '/activate') {
        await person.browse(pathname + search)
        await person.submit('/activate', { decision: 'allow' })
      } else await comeBack((await allow(person, pathname + search)).location ?? '')
    }
    seen = addresses.length
  }
  return text
}

/** The program that waits for the browser may still be starting. */
async function comeBack(location: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answered = await fetch(location).catch(() => undefined)
    if (answered?.ok) return
    await Bun.sleep(50)
  }
  throw new Error(`nothing listens at ${new URL(location).origin}`)
}

test('docs/oauth.md: every shell example works as it is pasted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-page-'))
  const server = await startTestServer('sqlite', { seed: 42, streams: 20 })
  try {
    const port = await freePort()
    const script = blocksOf('sh')
      // The bot is a separate program, with packages that the reader installs.
      .filter(text => !text.includes('bot.mjs'))
      .join('\n')
      .replace(/^S=.*$/m, `S=${server.url}`)
      .replace(/^OPERATOR=.*$/m, `OPERATOR=${server.world.operator_token}`)
      .replaceAll('localhost:3000', `localhost:${port}`)
      .replaceAll('listen(3000', `listen(${port}`)
      .replaceAll('sleep 5', 'sleep 0.2')
      .replaceAll(/curl (?!-sf)/g, 'curl --fail-with-body ')
    const shell = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [text, violations, code] = await Promise.all([
      followAddresses(server, shell.stdout),
      new Response(shell.stderr).text(),
      shell.exited,
    ])
    expect({ code, violations: code === 0 ? '' : violations }).toEqual({ code: 0, violations: '' })
    expect(text).toContain('"id_token":"ey')
    expect(text).toContain(`"sub":"${server.world.broadcaster.id}"`)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('docs/oauth.md: shell examples use no variable that was not set before', () => {
  const given = new Set<string>()
  const unset: string[] = []
  for (const line of blocksOf('sh').join('\n').split('\n')) {
    for (const [, name = ''] of line.matchAll(/\$([A-Z]+)\b/g)) if (!given.has(name)) unset.push(name)
    const [, name] = /^([A-Z]+)=/.exec(line) ?? []
    if (name !== undefined) given.add(name)
  }
  expect(unset).toEqual([])
})
