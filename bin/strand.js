#!/usr/bin/env node
const { programFile, runInBun } = require('./runtime.js')

runInBun(programFile(), process.argv.slice(2), { ipc: true })
