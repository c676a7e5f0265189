// Runs a script of this repository in Bun: `node bin/run.js test/run.ts`. The scripts of package.json use it, so that they
// work where Bun's own install script did not run.
const { runInBun } = require('./runtime.js')

const [file = '', ...words] = process.argv.slice(2)
runInBun(file, words, { ipc: false })
