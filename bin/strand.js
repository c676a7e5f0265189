#!/usr/bin/env node
import { runInBun } from './runtime.js'

runInBun('src/main.ts', process.argv.slice(2), { ipc: true })
