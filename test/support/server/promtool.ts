/** Prometheus's judge of metrics and rules. */
import { expect } from 'bun:test'

export const promtool = process.env.TEST_PROMTOOL || undefined

/** Runs promtool; its output is shown if it fails. */
export async function askPromtool(words: readonly string[], input = ''): Promise<void> {
  const child = Bun.spawn([promtool ?? 'promtool', ...words], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, output.join('')]).toEqual([0, expect.any(String)])
}
