import type { BunPlugin } from 'bun'
import { bundleScripts, bundleStyles } from '../src/site/bundle.ts'

/**
 * Puts the bundled scripts and style sheets of the site in place of the code that bundles them: an executable has no
 * sources. They are bundled first, because a build that starts another one waits for itself.
 */
export async function inlineAssets(): Promise<BunPlugin> {
  const contents = `export const bundleScripts = async () => (${JSON.stringify(await bundleScripts())})
export const bundleStyles = async () => (${JSON.stringify(await bundleStyles())})`
  return {
    name: 'inline-assets',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]site[\\/]bundle\.ts$/ }, () => ({ contents, loader: 'js' }))
    },
  }
}
