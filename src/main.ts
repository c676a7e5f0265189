import { runProgram } from './cli/program.ts'

const code = await runProgram(process.argv.slice(2))
// A pipe takes long output piece by piece: leave when the last one is gone.
process.stdout.write('', () => process.exit(code))
