import { runProgram } from './cli/program.ts'

// Without a top-level await, which a bundle with bytecode cannot have.
runProgram(process.argv.slice(2)).then(code => process.exit(code))
