import { join } from 'node:path'

/** Both licences ask for a notice in copies. */
const LICENCES =
  '/*! Contains mpegts.js (c) Bilibili, zheng qian: Apache License 2.0; es6-promise (c) Yehuda Katz et al., events (c) Joyent: MIT */'

/** The script of the player with the packages it uses. The build of the executable puts the result in place of this file. */
export async function bundlePlayer(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, '../player/main.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
    banner: LICENCES,
  })
  const [script] = outputs
  if (script === undefined) throw new Error('the script of the player has no output')
  return script.text()
}
