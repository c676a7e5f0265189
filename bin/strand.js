#!/usr/bin/env node
import { programFile, runInBun } from './runtime.js'

runInBun(programFile(), process.argv.slice(2), { ipc: true })
