/** What commands write when they are run from a checkout must not end in a commit, and is for its owner alone. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { leaves } from '../support/cli/command-tree.ts'
import { ROOT, StrandProcess } from '../support/cli/strand-process.ts'

const checkout = mkdtempSync(join(tmpdir(), 'strand-checkout-'))

async function strand(...words: string[]) {
  const child = new StrandProcess(words, { cwd: checkout })
  expect([words, await child.exit(), child.stderr]).toEqual([words, 0, expect.any(String)])
}

const git = (...words: string[]) => Bun.spawnSync(['git', ...words], { cwd: checkout })

beforeAll(async () => {
  copyFileSync(join(ROOT, '.gitignore'), join(checkout, '.gitignore'))
  git('init', '-q')
  git('add', '.gitignore')
  await strand('migrate')
  // The secrets of the data folder are made with the first user.
  await strand('user', 'create', 'plucky_jackal')
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

test('what is written by default, or as the examples name it, is ignored by git and has mode 0600', async () => {
  writeFileSync(join(checkout, 'passphrase.txt'), 'correct horse battery\n', { mode: 0o600 })
  // One that is there already, readable by all, is not left so.
  writeFileSync(join(checkout, 'moving.ndjson'), '', { mode: 0o644 })
  await strand('backup', '--unsealed')
  await strand('backup', '--passphrase-file', 'passphrase.txt', 'strand-sealed.tar')
  await strand('export', '--with-secrets', 'moving.ndjson', '--yes')
  await strand(
    'restore',
    'strand-sealed.tar',
    '--data',
    'data',
    '--passphrase-file',
    'passphrase.txt',
    '--yes',
  )
  const untracked = git('status', '--porcelain', '--untracked-files=all').stdout.toString()
  expect(untracked).toBe('A  .gitignore\n')
  const written = [...new Glob('**/*').scanSync({ cwd: checkout, dot: true })].filter(
    file => !file.startsWith('.git'),
  )
  expect(written.length).toBeGreaterThan(8)
  const open = written.filter(file => (statSync(join(checkout, file)).mode & 0o077) !== 0)
  expect(open).toEqual([])
})

test('so is every file that holds secrets in an example of the help', async () => {
  const named = (await leaves()).flatMap(({ examples }) =>
    examples.flatMap(
      example => example.match(/(?<=^|\s)[\w.-]+\.(tar|ndjson|ndjson\.gz|env)\b|\boperator-token\b/g) ?? [],
    ),
  )
  expect(named.length).toBeGreaterThan(5)
  const unfinished = [
    'strand-backup-20260301T120000Z.tar.unfinished-1/strand.db',
    'moving.ndjson.1.unfinished',
  ]
  for (const file of [...named, ...unfinished, 'master-keys', 'secrets.env', '.env']) {
    expect([file, git('check-ignore', '-q', '--no-index', file).exitCode]).toEqual([file, 0])
  }
})
