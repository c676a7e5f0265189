import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Makes the files of a folder those of another, each at once: a program that reads the folder meanwhile, such as npm while it
 * packs, finds every file, old or new.
 */
export function replaceFolder(from: string, to: string): void {
  const names = filesIn(from)
  for (const name of names) {
    const target = join(to, name)
    const written = `${target}.${process.pid}.new`
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(from, name), written)
    renameSync(written, target)
  }
  const kept = new Set(names)
  for (const name of filesIn(to)) if (!kept.has(name) && !name.endsWith('.new')) rmSync(join(to, name))
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() ?? false,
  )
}
