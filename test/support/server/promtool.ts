/** Prometheus's judge of metrics and rules. */
import { expect } from 'bun:test'

export const promtool = process.env.TEST_PROMTOOL || undefined

/** Runs promtool; what it says is shown if it is not content. */
export async function askPromtool(words: readonly string[], input = ''): Promise<void> {
  const child = Bun.spawn([promtool ?? 'promtool', ...words], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([await child.exited, said.join('')]).toEqual([0, expect.any(String)])
}
