/** The OpenAPI documents, as the tools of other people see them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StrandProcess } from '../support/cli/strand-process.ts'
import { installListed } from '../support/packages/listed-packages.ts'

const TOOLS = join(import.meta.dirname, 'tools')
const INSTALL_MILLISECONDS = 300_000
const RUN_MILLISECONDS = 120_000
const STRICTER = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }

/** Uses generated types as a program would. The errors that it expects are mistakes that the types must find. */
const PROGRAM = `
import type { components, operations, paths } from './api.js'

type Entitlement = components['schemas']['Entitlement']
type Listed = operations['GetDropsEntitlements']['responses'][200]['content']['application/json']['data'][number]
type TokenRequest = paths['/oauth2/token']['post']['requestBody']['content']['application/json']

export const status: Entitlement['fulfillment_status'] = 'CLAIMED'
export const wait: operations['GetStreams']['responses'][429]['headers']['Retry-After'] = 1
export const same = (listed: Listed): Entitlement => listed
export const app: TokenRequest = { grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' }
// @ts-expect-error: another status
export const unknown: Entitlement['fulfillment_status'] = 'GIVEN'
// @ts-expect-error: no secret
export const incomplete: TokenRequest = { grant_type: 'client_credentials', client_id: 'a' }
// @ts-expect-error: no operation of the control API
export type Control = paths['/control/users']
`

describe('tools for OpenAPI', () => {
  let folder: string
  let work: string
  let publicFile: string
  let wholeFile: string
  beforeAll(async () => {
    const installed = await installListed(TOOLS)
    if (installed === undefined) throw new Error('npm could not install the tools')
    folder = installed
    work = mkdtempSync(join(folder, 'work-'))
    publicFile = await printedTo('openapi.json')
    wholeFile = await printedTo('control.openapi.json', '--control')
  }, INSTALL_MILLISECONDS)
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  async function printedTo(name: string, ...flags: readonly string[]): Promise<string> {
    const printed = new StrandProcess(['openapi', ...flags])
    expect(await printed.exit()).toBe(0)
    const file = join(work, name)
    writeFileSync(file, printed.stdout)
    return file
  }

  async function run(program: string, ...words: readonly string[]): Promise<string> {
    const child = Bun.spawn(['node', join(folder, program), ...words], {
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== 0)
      throw new Error(`${program} ended with ${code}: ${output.slice(0, 4000)}${errors.slice(-4000)}`)
    return output
  }

  test(
    'redocly lint finds nothing in either document',
    async () => {
      const config = join(folder, 'redocly.yaml')
      for (const file of [publicFile, wholeFile]) {
        const words = ['lint', '--config', config, '--format', 'json', file]
        const { problems } = JSON.parse(await run('node_modules/@redocly/cli/bin/cli.js', ...words))
        expect(problems).toEqual([])
      }
    },
    RUN_MILLISECONDS,
  )

  test(
    'spectral finds nothing in the whole document',
    async () => expect(JSON.parse(await run('spectral.js', wholeFile))).toEqual([]),
    RUN_MILLISECONDS,
  )

  test(
    'openapi-typescript generates types that compile under strict and find mistakes',
    async () => {
      await run('node_modules/openapi-typescript/bin/cli.js', publicFile, '-o', join(work, 'api.ts'))
      writeFileSync(join(work, 'program.ts'), PROGRAM)
      const compilerOptions = { strict: true, ...STRICTER, noEmit: true, module: 'nodenext', types: [] }
      writeFileSync(join(work, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
      expect(await run('node_modules/typescript/bin/tsc', '--project', work)).toBe('')
    },
    RUN_MILLISECONDS,
  )
})
