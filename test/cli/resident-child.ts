/** Runs the command lines that its parent sends, one after the other, and prints where the output of each ends. */
import { runProgram } from '../../src/cli/program.ts'
import { useBundledThreads } from '../support/server/bundled-threads.ts'
import { endOf, type Line } from './resident-strand.ts'

useBundledThreads()

async function run({ number, words, cwd, environment }: Line): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(cwd)
  const end = endOf(number, await runProgram(words))
  for (const stream of [process.stdout, process.stderr])
    await new Promise(resolve => stream.write('', resolve))
  await Bun.write(Bun.stdout, end)
  await Bun.write(Bun.stderr, end)
}

process.on('message', (line: Line) => void run(line))
process.on('disconnect', () => process.exit())
