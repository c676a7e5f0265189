import type { BunPlugin } from 'bun'

/** Evaluates `client/calls.ts` and bundles its exports as JSON instead of the contract they come from. */
export const inlineCalls: BunPlugin = {
  name: 'inline-calls',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]client[\\/]calls\.ts$/ }, async ({ path }) => {
      const values: Record<string, unknown> = await import(path)
      const contents = Object.entries(values).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)}`,
      )
      return { contents: contents.join('\n'), loader: 'js' }
    })
  },
}
