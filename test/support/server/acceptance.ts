import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '../../../src/demo/described-world.ts'
import { ROOT } from '../cli/strand-process.ts'

/** As much of a world as the acceptance suite asks for. */
export type JudgedWorld = Pick<
  World,
  | 'base_url'
  | 'helix_url'
  | 'oauth_url'
  | 'control_url'
  | 'operator_token'
  | 'client'
  | 'other_client'
  | 'broadcaster'
  | 'editor'
  | 'offline'
  | 'viewer'
  | 'game'
  | 'benefit'
> & { readonly users: readonly { readonly scopes: readonly string[] }[] }

/** Lets the acceptance suite judge a server and the world on it; throws with its report if it finds fault. */
export async function judge(world: JudgedWorld, folder: string): Promise<void> {
  const file = join(folder, 'world.json')
  writeFileSync(file, JSON.stringify(world))
  const suite = Bun.spawn([process.execPath, 'test', './test/acceptance/world.test.ts'], {
    cwd: ROOT,
    env: { ...process.env, STRAND_WORLD: file, NO_COLOR: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, report] = await Promise.all([suite.stdout.text(), suite.stderr.text()])
  if ((await suite.exited) !== 0 || !/\b2\d pass/.test(report)) throw new Error(`${output}\n${report}`)
}
