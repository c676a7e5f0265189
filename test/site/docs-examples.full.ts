/** The examples of the reference: all of them can be read by what runs them, and those of the core operations are run. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeClientTypes } from '../../build/client-types.ts'
import { operations } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { curlExample } from '../../src/contract/reference/examples/curl.ts'
import { LANGUAGES } from '../../src/contract/reference/examples/languages.ts'
import { pythonExample } from '../../src/contract/reference/examples/python.ts'
import { typescriptExample } from '../../src/contract/reference/examples/typescript.ts'
import { exampleEntitlement } from '../../src/contract/resources/entitlement.ts'
import { exampleNames } from '../../src/contract/resources/id.ts'
import { ROOT } from '../support/cli/strand-process.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const { TEST_PYTHON = '' } = process.env
const NOWHERE = { baseUrl: 'http://localhost:8080', strict: false }

/** What the answer to each of the seven core operations contains, whatever prints it. The marker is made before it is listed. */
const CORE: Readonly<Record<string, readonly string[]>> = {
  GetDropsEntitlements: [exampleEntitlement.id],
  UpdateDropsEntitlements: ['SUCCESS', 'INVALID_ID'],
  GetStreams: [exampleNames.user_login],
  GetFollowedStreams: [exampleNames.user_login],
  GetStreamKey: ['live_'],
  CreateStreamMarker: ['the jump', 'position_seconds'],
  GetStreamMarkers: [exampleNames.user_login],
}

let folder = ''
beforeAll(() => {
  // Below the checkout, so that the compiler finds the types.
  folder = mkdtempSync(join(ROOT, 'test', 'site', '.examples-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A program for the sources of the client instead of the package. */
function writeProgram(name: string, text: string): string {
  const file = join(folder, `${name}.ts`)
  const here = text.replace("'strand-server/client'", "'../../../src/client/index.ts'")
  // A file without an import is no module, and could not await.
  writeFileSync(file, here.includes('import ') ? here : `${here}\nexport {}\n`)
  return file
}

async function run(
  words: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<{ code: number; printed: string; failure: string }> {
  const child = Bun.spawn([...words], {
    env: { ...process.env, ...options.env },
    ...(options.input !== undefined && { stdin: new Blob([options.input]) }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [printed, failure, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, printed, failure }
}

describe('of every operation', () => {
  const all = (example: (operation: Operation, server: typeof NOWHERE) => string) =>
    [false, true].flatMap(strict =>
      operations.map(operation => [operation.id, example(operation, { ...NOWHERE, strict })] as const),
    )

  test('in curl, a shell can read it', async () => {
    for (const [id, text] of all(curlExample))
      expect([id, (await run(['sh', '-n'], { input: text })).failure]).toEqual([id, ''])
  })

  test('in TypeScript, it compiles', async () => {
    writeClientTypes()
    for (const [index, [id, text]] of all(typescriptExample).entries()) writeProgram(`${id}-${index}`, text)
    const config = { extends: join(ROOT, 'tsconfig.json'), include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { printed } = await run([join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', folder])
    expect(printed).toBe('')
  }, 300_000)

  test.skipIf(TEST_PYTHON === '')('in Python, it parses', async () => {
    const program = 'import ast, json, sys\nfor text in json.load(sys.stdin): ast.parse(text)'
    const input = JSON.stringify(all(pythonExample).map(([, text]) => text))
    expect(await run([TEST_PYTHON, '-c', program], { input })).toEqual({ code: 0, printed: '', failure: '' })
  })
})

describe.each([false, true])('of the core operations, strict: %p', strict => {
  let server: TestServer
  let client: TestServer['world']['client']
  const tokens: Record<string, string> = {}

  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { strict } })
    client = server.world.client
    const { id, user_id, benefit_id, game_id } = exampleEntitlement
    const broadcaster = exampleNames.user_id
    const organization_id = server.world.organization.id
    await server.control('PUT', `/users/${broadcaster}`, { login: exampleNames.user_login })
    await server.control('PUT', `/users/${user_id}`, { login: 'viewer_of_examples' })
    await server.control('PUT', `/games/${game_id}`, { name: 'Tidefall', organization_id })
    await server.control('PUT', `/benefits/${benefit_id}`, { name: 'Lantern', organization_id, game_id })
    await server.control('POST', '/entitlements', { grants: [{ id, user_id, benefit_id, game_id }] })
    await server.control('PUT', `/channels/${broadcaster}/stream`, { viewer_count: 3 })
    await server.control('PUT', `/users/${user_id}/follows/${broadcaster}`)
    const issue = async (user: string, scopes: readonly string[]) =>
      (await server.control('POST', '/tokens', { client_id: client.id, user_id: user, scopes }))[0]
        .access_token
    const own = await issue(broadcaster, ['channel:read:stream_key', 'channel:manage:broadcast'])
    tokens.GetStreamKey = tokens.CreateStreamMarker = tokens.GetStreamMarkers = own
    tokens.GetFollowedStreams = await issue(user_id, ['user:read:follows'])
  })
  afterAll(() => server.stop())

  for (const { name, title, example } of LANGUAGES) {
    test.skipIf(name === 'python' && TEST_PYTHON === '')(
      `in ${title}, each runs unchanged`,
      async () => {
        mkdirSync(folder, { recursive: true })
        for (const [id, expected] of Object.entries(CORE)) {
          const operation = operations.find(each => each.id === id) as Operation
          const text = example(operation, { baseUrl: server.url, strict })
          const words = {
            curl: () => ['sh', '-c', `${text} -sS --fail-with-body`],
            typescript: () => [process.execPath, writeProgram(`run-${id}`, text)],
            python: () => [TEST_PYTHON, '-c', text],
          }[name]()
          const env = { TOKEN: tokens[id] ?? client.app_token, CLIENT_ID: client.id }
          const { code, printed, failure } = await run(words, { env })
          expect([id, code, failure]).toEqual([id, 0, ''])
          for (const each of expected) expect([id, printed]).toEqual([id, expect.stringContaining(each)])
        }
      },
      120_000,
    )
  }
})
