/** The client as the package ships it: bundled for Node and for browsers, without anything that only Bun has. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { inlineCalls } from '../../src/site/build/inline-calls.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

let folder = ''
let server: TestServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-client-'))
  server = await startTestServer('sqlite', { streams: 3 })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function bundle(target: 'browser' | 'node'): Promise<string> {
  const built = await Bun.build({
    entrypoints: ['src/client/index.ts'],
    target,
    minify: target === 'browser',
    plugins: [inlineCalls],
  })
  expect(built.logs).toEqual([])
  return built.outputs[0]?.text() ?? ''
}

test('bundled for Node, it lists live streams', async () => {
  const file = join(folder, 'client.mjs')
  writeFileSync(file, await bundle('node'))
  const program = `
    import { createClient, StrandError } from ${JSON.stringify(file)}
    const client = createClient({ baseUrl: ${JSON.stringify(server.url)}, operatorToken: ${JSON.stringify(server.world.operator_token)} })
    let count = 0
    for await (const stream of client.helix.getStreams.each({ first: 2 })) count += stream.user_id.length > 0 ? 1 : 0
    const missing = await client.control.getUser({ user_id: '1' }).catch(error => error instanceof StrandError && error.status)
    process.stdout.write(JSON.stringify([count, missing]))`
  const node = Bun.spawn(['node', '--input-type=module', '-e', program], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([node.stdout.text(), node.stderr.text()])
  expect([stdout, stderr]).toEqual(['[3,404]', ''])
})

test('bundled for a browser, it is small and uses only what browsers have', async () => {
  const text = await bundle('browser')
  expect(text).not.toMatch(/\bBun\.|\bprocess\.|\brequire\(|node:/)
  expect(gzipSync(text).length).toBeLessThan(10_000)
})
