/**
 * `npm test`: brings up a real PostgreSQL, finds a real browser and real proxies, runs every test on both stores, and says
 * how it went. `npm run test:full` runs the tests that take minutes each (`*.long.ts`).
 */
import { Glob } from 'bun'
import { findPrograms } from './support/debian.ts'
import { startPostgres } from './support/postgres.ts'

const words = process.argv.slice(2)
const isFull = words[0] === '--full'
if (isFull) words.shift()
const at = words.indexOf('--nodes')
const [, nodes = '1'] = at < 0 ? [] : words.splice(at, 2)
const postgres = await startPostgres().catch((error: unknown) => {
  console.error(`\n!!! SKIPPED: every test on PostgreSQL. It could not be started: ${error}\n`)
  return undefined
})
const [chromium, nginx, haproxy, pgbouncer, zsh, fish, promtool, pytest, systemdAnalyze, compiler] =
  await findPrograms([
    {
      names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
      package: 'chromium',
      skipped: 'every test in a browser',
    },
    { names: ['nginx'], package: 'nginx-light', skipped: 'every test behind nginx' },
    { names: ['haproxy'], package: 'haproxy', skipped: 'every test behind HAProxy' },
    { names: ['pgbouncer'], package: 'pgbouncer', skipped: 'every test through PgBouncer' },
    { names: ['zsh'], package: 'zsh', skipped: 'the test of completion in zsh' },
    { names: ['fish'], package: 'fish', skipped: 'the test of completion in fish' },
    { names: ['promtool'], package: 'prometheus', skipped: 'what Prometheus says of metrics and alerts' },
    { names: ['pytest', 'pytest-3'], package: 'python3-pytest', skipped: 'the examples in Python' },
    { names: ['systemd-analyze'], package: 'systemd', skipped: "systemd's own check of the unit" },
    { names: ['cc', 'gcc', 'clang'], package: 'gcc libc6-dev', skipped: 'every test on a disk that fails' },
  ])

const everything = isFull ? [...new Glob('./test/**/*.long.ts').scanSync('.')].sort() : ['./test']
const run = Bun.spawn(
  [process.execPath, 'test', '--parallel', '--timeout', '60000', ...(words.length > 0 ? words : everything)],
  {
    env: {
      ...process.env,
      TEST_DATABASE_URL: postgres?.url ?? '',
      TEST_CHROMIUM: chromium ?? '',
      TEST_NODES: nodes,
      TEST_NGINX: nginx ?? '',
      TEST_HAPROXY: haproxy ?? '',
      TEST_PGBOUNCER: pgbouncer ?? '',
      TEST_ZSH: zsh ?? '',
      TEST_FISH: fish ?? '',
      TEST_PROMTOOL: promtool ?? '',
      TEST_PYTEST: pytest ?? '',
      TEST_SYSTEMD_ANALYZE: systemdAnalyze ?? '',
      TEST_CC: compiler ?? '',
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
