/** The client as a separate package: packed by npm, installed by npm in an empty project, and used there. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import root from '../../package.json' with { type: 'json' }
import manifest from '../../packages/client/package.json' with { type: 'json' }
import { ROOT } from '../support/cli/strand-process.ts'
import { packedTarball } from '../support/packages/packed.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const MAX_GZIPPED_BYTES = 16_000
const INSTALL_MILLISECONDS = 120_000

let folder = ''
let tarball = ''
let server: TestServer

async function run(words: readonly string[]) {
  const child = Bun.spawn([...words], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, stdout, stderr }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-client-package-'))
  tarball = await packedTarball('strand-client')
  writeFileSync(join(folder, 'package.json'), '{"name":"consumer","private":true}')
  const installed = await run(['npm', 'install', '--ignore-scripts', '--offline', tarball])
  expect([installed.code, installed.code === 0 ? '' : installed.stderr]).toEqual([0, ''])
  server = await startTestServer('sqlite', { streams: 3 })
}, INSTALL_MILLISECONDS)
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the package strand-client', () => {
  test('installs nothing but itself, and is small', () => {
    expect(readdirSync(join(folder, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual([
      'strand-client',
    ])
    expect(manifest).not.toHaveProperty('dependencies')
    for (const file of ['index.js', 'index.cjs']) {
      const code = readFileSync(join(folder, 'node_modules/strand-client/dist', file))
      expect(gzipSync(code).length).toBeLessThan(MAX_GZIPPED_BYTES)
      expect(code.toString()).not.toMatch(/\bBun\.|\bprocess\.|\brequire\(|node:/)
    }
  })

  test('has the version and the Node of the server', () => {
    expect([manifest.version, manifest.engines, manifest.license]).toEqual([
      root.version,
      root.engines,
      root.license,
    ])
  })

  test('has no scripts, and the addresses of the repository, which package.json of the server has', () => {
    const installed = JSON.parse(
      readFileSync(join(folder, 'node_modules/strand-client/package.json'), 'utf8'),
    )
    const { scripts, ...others } = manifest
    const page = root.repository.url.slice('git+'.length, -'.git'.length)
    expect(installed).toEqual({
      ...others,
      repository: { ...root.repository, directory: 'packages/client' },
      bugs: `${page}/issues`,
      homepage: `${page}#readme`,
    })
  })

  test.each([
    ['an ES module', 'use.mjs', "import { createClient, StrandError } from 'strand-client'"],
    ['CommonJS', 'use.cjs', "const { createClient, StrandError } = require('strand-client')"],
  ])('lists live streams from %s', async (_, file, statement) => {
    const program = `${statement}
async function main() {
  const { helix } = createClient({ baseUrl: ${JSON.stringify(server.url)} })
  let count = 0
  for await (const stream of helix.getStreams.each({ first: 2 })) count += stream.user_id.length > 0 ? 1 : 0
  const refused = await helix.getStreams({ first: 0 }).catch(error => error instanceof StrandError && error.code)
  console.log(count, refused)
}
main()
`
    writeFileSync(join(folder, file), program)
    expect(await run(['node', file])).toEqual({ code: 0, stdout: '3 malformed_parameter\n', stderr: '' })
  })

  test('is typed, without any other declarations', async () => {
    const program = `import { createClient, type Entitlement, type GetStreamsInput, StrandError } from 'strand-client'
const { helix } = createClient({ baseUrl: 'http://localhost:8080', token: rejected => rejected ?? 'token' })
const input: GetStreamsInput = { first: 3 }
export const titles = async (): Promise<string[]> => (await helix.getStreams(input)).data.map(({ title }) => title)
export const entitlements = async (): Promise<Entitlement[]> => (await helix.getDropsEntitlements()).data
export const isBusy = (error: unknown) => error instanceof StrandError && error.code === 'rate_limited'
// @ts-expect-error: there is no such field
export const wrong = () => helix.getStreams({ user_name: ['otter'] })
`
    writeFileSync(join(folder, 'use.mts'), program)
    writeFileSync(join(folder, 'use.cts'), program)
    const words = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--types', '']
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    const modules = ['--module', 'nodenext', '--lib', 'es2023,dom']
    const { code, stdout } = await run([tsc, ...words, ...modules, 'use.mts', 'use.cts'])
    expect([code, stdout]).toEqual([0, ''])
  })

  test('publint and attw find nothing', async () => {
    for (const words of [
      ['publint', '--strict'],
      ['attw', '--quiet'],
    ]) {
      const [name = '', ...flags] = words
      const { code, stdout } = await run([join(ROOT, 'node_modules/.bin', name), ...flags, tarball])
      expect([name, code, code === 0 ? '' : stdout]).toEqual([name, 0, ''])
    }
  })
})
