import { join } from 'node:path'

/** The script of the player with the packages it uses. The build of the executable puts the result in place of this file. */
export async function bundlePlayer(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, '../player/main.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
  })
  const [script] = outputs
  if (script === undefined) throw new Error('the script of the player has no output')
  return script.text()
}
