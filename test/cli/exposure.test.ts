/** What `strand serve` refuses, or warns of, before it starts. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'

/** An address that no machine has, so that no server can be reached by the test. */
const ELSEWHERE = '192.0.2.1:8081'

const folder = mkdtempSync(join(tmpdir(), 'strand-exposure-'))
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function serve(words: readonly string[], environment: Record<string, string> = {}) {
  const strand = new StrandProcess(['serve', '--listen', '127.0.0.1:0', '--data', folder, ...words], {
    environment,
  })
  return { code: await strand.exit(), stderr: strand.stderr }
}

test('warns of an operator listener that may be reachable from outside', async () => {
  const { code, stderr } = await serve(['--operator-listen', ELSEWHERE])
  expect(stderr).toContain('"level":"warn"')
  expect(stderr).toContain('the operator listener may be reachable from outside')
  expect([code, stderr.includes(`cannot listen on ${ELSEWHERE}`)]).toEqual([1, true])
})

test('a proxy in front of the one listener is refused in one sentence that states what to do', async () => {
  const { code, stderr } = await serve([], { STRAND_PUBLIC_URL: 'https://api.example.org' })
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^strand: invalid STRAND_PUBLIC_URL: a proxy .*: set STRAND_OPERATOR_LISTEN, for example/,
    ),
  ])
  expect(code).toBe(1)
})

test('several workers with an embedded media server are refused in one sentence that states what to do', async () => {
  const { code, stderr } = await serve(['--workers', '2'], { STRAND_RTMP_LISTEN: '127.0.0.1:0' })
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^strand: STRAND_RTMP_LISTEN needs a single process, .*: set STRAND_WORKERS=1, or /,
    ),
  ])
  expect(code).toBe(1)
})

test('several workers on the embedded store are refused in one sentence that states what to do', async () => {
  const { code, stderr } = await serve(['--workers', '2'], {})
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^strand: STRAND_WORKERS needs PostgreSQL, .*: set STRAND_WORKERS=1, or DATABASE_URL/,
    ),
  ])
  expect(code).toBe(1)
})

test('an address for viewers of a node whose control API a proxy would expose is refused', async () => {
  const { code, stderr } = await serve([], { STRAND_MEDIA_URL: 'https://one.example.org' })
  expect(stderr).toMatch(/^strand: invalid STRAND_MEDIA_URL: a proxy .*: set STRAND_OPERATOR_LISTEN/)
  expect(code).toBe(1)
})
