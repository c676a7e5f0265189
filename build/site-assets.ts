import { bundleFonts, bundleScripts, bundleStyles } from '../src/site/build/bundle.ts'

/** The module that bundles scripts, style sheets and fonts of the site. Neither the program nor the executable has their sources. */
export const BUNDLE_MODULE = /[\\/]src[\\/]site[\\/]build[\\/]bundle\.ts$/

/** All of them as JSON. They are bundled before the program, because a build that starts another one waits for itself. */
export async function siteAssets(): Promise<string> {
  return JSON.stringify({
    scripts: await bundleScripts(),
    styles: await bundleStyles(),
    fonts: await bundleFonts(),
  })
}

/** What replaces the module, with an expression for the parsed JSON. */
export function assetsModule(assets: string): string {
  return `export const bundleScripts = async () => (${assets}).scripts
export const bundleStyles = async () => (${assets}).styles
export const bundleFonts = async () => (${assets}).fonts`
}
