/**
 * Libraries in C that are loaded in front of the system's own (`LD_PRELOAD`): the way to make a disk fail, stall or be
 * recorded under a real server. Each is compiled once per run, into a folder that the caller removes.
 */
import { basename, join } from 'node:path'

/** Why there is none: no compiler, or a system without `LD_PRELOAD`. */
export class NoPreload extends Error {
  override readonly name = 'NoPreload'
}

/** Compiles `source` into a library in `folder` and returns its path, for `LD_PRELOAD`. */
export async function compilePreload(source: string, folder: string): Promise<string> {
  if (process.platform !== 'linux') throw new NoPreload('LD_PRELOAD needs Linux')
  const compiler = Bun.which('cc') ?? Bun.which('gcc') ?? Bun.which('clang')
  if (compiler === null) throw new NoPreload('no C compiler: install gcc')
  const library = join(folder, `${basename(source, '.c')}.so`)
  const run = Bun.spawn(
    [compiler, '-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', library, source, '-ldl', '-lpthread'],
    {
      stdout: 'ignore',
      stderr: 'pipe',
    },
  )
  const [code, violation] = await Promise.all([run.exited, new Response(run.stderr).text()])
  if (code !== 0) throw new Error(`${source} does not compile:\n${violation}`)
  return library
}
