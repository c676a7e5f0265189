import type { BunPlugin } from 'bun'
import { bundlePlayer } from '../src/pages/player-bundle.ts'

/**
 * Puts the bundled script of the player in place of the code that bundles it: an executable has no sources. The script is
 * bundled first, because a build that starts another one waits for itself.
 */
export async function inlinePlayer(): Promise<BunPlugin> {
  const contents = `export const bundlePlayer = async () => ${JSON.stringify(await bundlePlayer())}`
  return {
    name: 'inline-player',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]pages[\\/]player-bundle\.ts$/ }, () => ({
        contents,
        loader: 'js',
      }))
    },
  }
}
