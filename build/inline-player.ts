import type { BunPlugin } from 'bun'
import { bundlePlayer } from '../src/pages/player-bundle.ts'

/** Bundles the script of the player during the build: an executable has no sources to bundle it from. */
export const inlinePlayer: BunPlugin = {
  name: 'inline-player',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]pages[\\/]player-bundle\.ts$/ }, async () => {
      const text = JSON.stringify(await bundlePlayer())
      return { contents: `export const bundlePlayer = async () => ${text}`, loader: 'js' }
    })
  },
}
