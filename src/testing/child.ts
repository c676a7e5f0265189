import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunWords, findBun } from '../../bin/runtime.js'
import type { World } from '../demo/described-world.ts'
import type { DemoRequest, StartedDemo } from './demo-wish.ts'

/** Through `src`, because this file also runs as `dist/testing/start-strand.js`. */
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const START_MILLISECONDS = 30_000
const STOP_MILLISECONDS = 10_000

/**
 * A demo as a child. It cannot outlive this process: it ends when its standard input does, and that happens however this
 * process ends. Nor does it keep this process from ending.
 */
export async function startChild(request: DemoRequest): Promise<StartedDemo> {
  const scenario = fileOf(request.scenario)
  try {
    const child = spawn(bunProgram(), [...bunWords(), MAIN, ...wordsFor(request, scenario.file)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const world = await firstLine(child).catch((error: Error) => {
      throw new Error(scenario.anonymousFile(error.message))
    })
    release(child)
    return { world: JSON.parse(world) as World, stop: () => end(child) }
  } finally {
    scenario.remove()
  }
}

/** The Bun that npm installed with this package; in Bun, the one that runs. */
function bunProgram(): string {
  if (process.versions.bun !== undefined) return process.execPath
  return findBun(import.meta.url)
}

function wordsFor(request: DemoRequest, scenario: string | undefined): string[] {
  const words = ['demo', '--json', '--still', '--until-stdin-ends']
  words.push(
    '--port',
    String(request.port),
    '--seed',
    String(request.seed),
    '--streams',
    String(request.streams),
  )
  words.push('--settings', JSON.stringify(request.settings))
  if (request.clock !== undefined) words.push('--clock', new Date(request.clock.at).toISOString())
  if (request.clock?.running) words.push('--clock-runs')
  if (request.data !== undefined) words.push('--data', request.data)
  if (scenario !== undefined) words.push('--scenario', scenario)
  return words
}

interface ScenarioFile {
  readonly file: string | undefined
  /** What the child says of a file that nobody but us knows. */
  anonymousFile(sentence: string): string
  remove(): void
}

/** The scenario as a file, which is ours to name and to remove if it was none. */
function fileOf(scenario: DemoRequest['scenario']): ScenarioFile {
  if (scenario === undefined || typeof scenario === 'string') {
    return { file: scenario, anonymousFile: sentence => sentence, remove: () => undefined }
  }
  const folder = mkdtempSync(join(tmpdir(), 'strand-scenario-'))
  const file = join(folder, 'scenario.json')
  writeFileSync(file, JSON.stringify(scenario))
  return {
    file,
    anonymousFile: sentence => sentence.replace(file, 'the scenario'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Its one line says that it serves. Whatever it complains of is shown, and is the reason if it ends instead. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    let rejected = ''
    const deadline = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`Strand did not start within ${START_MILLISECONDS / 1000} seconds: ${rejected}`))
    }, START_MILLISECONDS)
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk
      if (!said.endsWith('\n')) return
      clearTimeout(deadline)
      resolve(said)
      // From here on, what it complains of is for whoever reads the test's output.
      child.stderr?.on('data', (more: Buffer) => process.stderr.write(more))
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      rejected += chunk
    })
    child.once('error', error => {
      clearTimeout(deadline)
      reject(new Error(`Strand cannot be started: ${error.message}`))
    })
    child.once('close', code => {
      clearTimeout(deadline)
      reject(new Error(rejected.trim() || `Strand ended with exit code ${code}`))
    })
  })
}

/** Our event loop does not wait for the child. */
function release(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket | null)?.unref?.()
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const ended = new Promise(resolve => child.once('exit', resolve))
  const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_MILLISECONDS)
  child.stdin?.end()
  await ended
  clearTimeout(deadline)
}
