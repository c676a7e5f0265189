/** The examples of docs/client.md, run unchanged against a demo. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeClientTypes } from '../../build/client-types.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const examples = [...readFileSync('docs/client.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, text = '']) => text,
)

let folder = ''
let url = ''
beforeAll(async () => {
  // Below the checkout, so that the compiler finds the types.
  folder = mkdtempSync(join(ROOT, 'test', 'client', '.examples-'))
  const demo = new StrandProcess(['demo', '--port', String(await freePort()), '--json', '--streams', '60'])
  url = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)).base_url
  examples.forEach((text, number) => {
    const here = text
      .replace("'strand-server/client'", "'../../../src/client/index.ts'")
      .replaceAll('http://localhost:8080', url)
    writeFileSync(join(folder, `example-${number}.ts`), here)
  })
})
afterAll(async () => {
  await endAllProcesses()
  rmSync(folder, { recursive: true, force: true })
})

test('there are examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(5)
})

test('they compile', async () => {
  writeClientTypes()
  const config = { extends: join(ROOT, 'tsconfig.json'), include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = Bun.spawn([join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', folder], {
    stdout: 'pipe',
    cwd: ROOT,
  })
  expect(await tsc.stdout.text()).toBe('')
})

for (const [number, text] of examples.entries()) {
  test(`example ${number + 1} runs: ${text.split('\n')[2]}`, async () => {
    const run = Bun.spawn([process.execPath, join(folder, `example-${number}.ts`)], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [printed, rejected] = await Promise.all([run.stdout.text(), run.stderr.text()])
    expect([await run.exited, rejected]).toEqual([0, ''])
    expect(printed.trim()).not.toBe('')
  })
}
