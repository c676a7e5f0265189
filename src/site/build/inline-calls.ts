import type { BunPlugin } from 'bun'

/** Evaluates the calls of the client and the forms of the reference, and bundles the results instead of the contract. */
export const inlineCalls: BunPlugin = {
  name: 'inline-calls',
  setup(build) {
    build.onLoad(
      { filter: /[\\/]src[\\/](?:client[\\/]calls|site[\\/]docs[\\/]forms)\.ts$/ },
      async ({ path }) => {
        const values: Record<string, unknown> = await import(path)
        const contents = Object.entries(values).map(
          ([name, value]) => `export const ${name} = ${JSON.stringify(value)}`,
        )
        return { contents: contents.join('\n'), loader: 'js' }
      },
    )
  },
}
