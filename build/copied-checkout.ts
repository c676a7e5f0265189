import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'data'])

/** Copies the checkout without what was installed, built or written by programs that ran in it. */
export function copyCheckout(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(ROOT).filter(each => !NOT_COPIED.has(each))) {
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: path => !NOT_COPIED.has(basename(path)),
    })
  }
}

/** The same with the installed packages, as links to their files where the file system can have them. */
export function copyInstalledCheckout(folder: string): void {
  copyCheckout(folder)
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')]
  if (Bun.spawnSync(['cp', '-al', from, to]).exitCode !== 0) cpSync(from, to, { recursive: true })
}
