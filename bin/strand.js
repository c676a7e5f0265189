#!/usr/bin/env node
// Starts Strand with the Bun that npm installed beside it: the machine itself needs only Node.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const manifest = createRequire(import.meta.url).resolve('bun/package.json')
const bun = join(dirname(manifest), 'bin', 'bun.exe')
const main = join(dirname(fileURLToPath(import.meta.url)), '..', 'src', 'main.ts')
const child = spawn(bun, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
// A terminal sends Ctrl-C to both; sent on, it would count as a second one.
process.on('SIGINT', () => undefined)
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
