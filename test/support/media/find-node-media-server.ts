import { join } from 'node:path'
import { installListed } from '../packages/listed-packages.ts'

/** The path of its program, by the variable that names it to tests. If npm cannot install it, it reports what is skipped. */
export async function findNodeMediaServer(): Promise<Record<string, string>> {
  const folder = await installListed('test/media-servers/node-media-server')
  const program = folder && join(folder, 'node_modules/node-media-server/bin/app.js')
  if (program !== undefined && Bun.which('node') !== null) return { TEST_NODE_MEDIA_SERVER: program }
  process.stderr.write(
    '\n!!! SKIPPED: every test of broadcasts through node-media-server. npm could not install it.\n\n',
  )
  return { TEST_NODE_MEDIA_SERVER: '' }
}
