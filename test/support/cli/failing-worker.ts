/** `strand`, of which the workers that TEST_FAILING_WORKERS names fail to start while the file TEST_FAILING_WHILE is there. */
import { existsSync } from 'node:fs'
import { runProgram } from '../../../src/cli/program.ts'

const words = process.argv.slice(2)
const worker = words[words.indexOf('--worker') + 1] ?? ''
const isNamed = words.includes('--worker') && process.env.TEST_FAILING_WORKERS?.split(',').includes(worker)
if (isNamed && existsSync(process.env.TEST_FAILING_WHILE ?? '')) {
  if (process.env.TEST_FAILING_BY === 'hang') process.kill(process.pid, 'SIGSTOP')
  if (process.env.TEST_FAILING_BY === 'signal') process.kill(process.pid, 'SIGKILL')
  process.exit(1)
}
process.exit(await runProgram(words))
