/** `npm test`: brings up a real PostgreSQL, finds a real browser, runs every test on both stores, and says how it went. */
import { findChromium } from './support/chromium.ts'
import { startPostgres } from './support/postgres.ts'

const files = process.argv.slice(2)
const postgres = await startPostgres().catch((error: unknown) => {
  console.error(`\n!!! SKIPPED: every test on PostgreSQL. It could not be started: ${error}\n`)
  return undefined
})
const chromium = await findChromium()

const run = Bun.spawn(
  [process.execPath, 'test', '--parallel', '--timeout', '60000', ...(files.length > 0 ? files : ['./test'])],
  {
    env: {
      ...process.env,
      TEST_DATABASE_URL: postgres?.url ?? '',
      TEST_CHROMIUM: chromium ?? '',
      NO_COLOR: '1',
    },
    stdout: 'inherit',
    stderr: 'pipe',
  },
)
let report = ''
const decoder = new TextDecoder()
for await (const chunk of run.stderr) {
  process.stderr.write(chunk)
  report += decoder.decode(chunk, { stream: true })
}
const code = await run.exited
await postgres?.stop()

const count = (word: string) => Number(report.match(new RegExp(`^\\s*(\\d+) ${word}$`, 'm'))?.[1] ?? 0)
console.log(`${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped`)
process.exit(code)
