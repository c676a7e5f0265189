/** node-media-server from npm, in a folder of its own: it brings more packages than Strand has. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../src/kit/digest.ts'

const LISTED = 'test/media-servers/node-media-server'
const FILES = ['package.json', 'package-lock.json']

/** The path of its program, by the variable that names it to tests. If npm cannot install it, it reports what is skipped. */
export async function findNodeMediaServer(): Promise<Record<string, string>> {
  const lock = await Bun.file(join(LISTED, 'package-lock.json')).text()
  const folder = join(
    process.cwd(),
    'node_modules/.cache',
    `node-media-server-${sha256Hex(lock).slice(0, 16)}`,
  )
  const program = join(folder, 'node_modules/node-media-server/bin/app.js')
  if (!existsSync(program)) await install(folder)
  const path = existsSync(program) && Bun.which('node') !== null ? program : ''
  if (path === '')
    process.stderr.write(
      '\n!!! SKIPPED: every test of broadcasts through node-media-server. npm could not install it.\n\n',
    )
  return { TEST_NODE_MEDIA_SERVER: path }
}

/** Installed beside its place and moved there when it is complete. */
async function install(folder: string): Promise<void> {
  const npm = Bun.which('npm')
  if (npm === null) return
  process.stderr.write('installing node-media-server with npm; this may take a minute\n')
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  for (const file of FILES) copyFileSync(join(LISTED, file), join(unfinished, file))
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const child = Bun.spawn([npm, ...words], { cwd: unfinished, stdout: 'ignore', stderr: 'ignore' })
  if ((await child.exited) === 0 && !existsSync(folder)) renameSync(unfinished, folder)
  rmSync(unfinished, { recursive: true, force: true })
}
