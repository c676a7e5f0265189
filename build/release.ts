/**
 * `npm run release`: writes the files of a release to dist/release and tries them: the packages installed in empty folders,
 * the executable of this platform, the bill of materials, the checksums. It publishes nothing: the workflow
 * `.github/workflows/release.yml` does, with these files.
 *
 *   npm run release                  the version whose tag is checked out, for all platforms
 *   npm run release -- --dry-run     any checkout, with the executable of this platform alone
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { runnerOptions } from '../test/support/runner/options.ts'
import { execute } from './pack.ts'
import { OWN_PLATFORM, PLATFORMS, readNotes, writeReleaseFiles } from './release-files.ts'
import { repositoryPage } from './repository-page.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist/release')
/** What they try is in the folders that the environment names. */
const TESTS = ['release/release', 'build/package', 'build/client-package'].map(
  name => `./test/${name}.full.ts`,
)

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
if (!values['dry-run']) await checkRelease()

const run = mkdtempSync(join(tmpdir(), 'strand-release-'))
process.on('exit', () => rmSync(run, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
const began = performance.now()
await writeReleaseFiles(OUT, { run, platforms: values['dry-run'] ? [OWN_PLATFORM] : PLATFORMS })
report(`${OUT} is written`)
const tests = Bun.spawn(
  [process.execPath, 'test', ...runnerOptions({ isFull: true, workers: TESTS.length }), ...TESTS],
  {
    cwd: ROOT,
    env: {
      ...process.env,
      TEST_FOLDER: run,
      TEST_RELEASE: OUT,
      TEST_PYTEST: Bun.which('pytest') ?? Bun.which('pytest-3') ?? '',
      TMPDIR: run,
    },
    stdout: 'inherit',
    stderr: 'inherit',
  },
)
if ((await tests.exited) !== 0) process.exit(1)
report('its packages and its executable work')
process.exit(0)

/** The commit is the one of the tag, the changelog has a date, and npm will accept the address of the repository. */
async function checkRelease(): Promise<void> {
  const { version, repository } = manifest
  const git = (...words: string[]) => execute(['git', ...words], ROOT)
  const problems: string[] = []
  if ((await git('status', '--porcelain')) !== '') problems.push('the checkout has changes')
  if (!(await git('tag', '--points-at', 'HEAD')).split('\n').includes(`v${version}`))
    problems.push(`the commit has no tag v${version}`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(readNotes().date))
    problems.push(`CHANGELOG.md has no date for ${version}: "## ${version} (${readNotes().date})"`)
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env
  const page = repositoryPage(repository.url)
  if (GITHUB_REPOSITORY !== undefined && page !== `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`)
    problems.push(
      `repository of package.json is ${page}, and this is ${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`,
    )
  if (problems.length === 0) return
  console.error(`not a release: ${problems.join('; ')}\n--dry-run tries any checkout`)
  process.exit(1)
}

function report(text: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(0)} s: ${text}`)
}
