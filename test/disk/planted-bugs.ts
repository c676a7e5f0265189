/** The program with a bug on purpose: a copy of its sources in which a few words are others. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/cli/strand-process.ts'

interface Edit {
  /** Below `src`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

const WRITER = 'store/sqlite/sqlite-writer.ts'
const QUEUE = 'store/sqlite/writer-queue.ts'

const NO_DEADLINE = {
  file: QUEUE,
  from: 'setTimeout(() => this.#expire(waiting), milliseconds)',
  to: 'setTimeout(() => {}, 1)',
}

export const PLANTED_BUGS = {
  'callers wait for the end of a view, which may fail': [
    {
      file: 'store/sqlite/sqlite-reader.ts',
      from: '} catch {\n      this.#disconnect()\n    }',
      to: '} finally {}',
    },
    {
      file: QUEUE,
      from: 'const { answers, unavailableReason } = readReport(message)',
      to: 'this.#onEnd(); const { answers, unavailableReason } = readReport(message)',
    },
    // A deadline would let them go.
    NO_DEADLINE,
  ],
  'a commit that failed is acknowledged': [
    { file: WRITER, from: "db.execute('commit')", to: "try { db.execute('commit') } catch {}" },
  ],
  'a write has no deadline': [NO_DEADLINE],
  'readiness does not ask for the writer': [
    { file: 'server/app.ts', from: 'store.unavailableReason() === undefined &&', to: '' },
  ],
  'names of files are not looked at': [
    { file: 'store/sqlite/sqlite-files.ts', from: 'if (fileAt(path) !== id)', to: 'if (false)' },
  ],
  'the file is mapped into memory': [
    { file: 'store/sqlite/sqlite-connection.ts', from: 'mmap_size = 0', to: 'mmap_size = 1073741824' },
  ],
} as const satisfies Record<string, readonly Edit[]>

/** Lets `work` have the root of a program with that bug. */
export async function withBug<T>(
  bug: keyof typeof PLANTED_BUGS,
  work: (program: string) => Promise<T>,
): Promise<T> {
  const program = mkdtempSync(join(tmpdir(), 'strand-bug-'))
  try {
    for (const each of ['src', 'package.json'])
      cpSync(join(ROOT, each), join(program, each), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(program, 'node_modules'))
    for (const { file, from, to } of PLANTED_BUGS[bug]) {
      const path = join(program, 'src', file)
      const source = readFileSync(path, 'utf8')
      if (source.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`)
      writeFileSync(path, source.replace(from, to))
    }
    return await work(program)
  } finally {
    rmSync(program, { recursive: true, force: true })
  }
}
