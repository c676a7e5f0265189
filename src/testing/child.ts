import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bunWords, findBun } from '../../bin/runtime.js'
import type { World } from '../demo/described-world.ts'
import type { DemoWish, StartedDemo } from './start-strand.ts'

/** From this file and from the one that is built of it, the program is in the same direction. */
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const START_MILLISECONDS = 30_000
const STOP_MILLISECONDS = 10_000

/**
 * A demo as a child. It cannot outlive this process: it ends when its standard input does, and that happens however this
 * process ends. Nor does it keep this process from ending.
 */
export async function startChild(wish: DemoWish): Promise<StartedDemo> {
  const scenario = fileOf(wish.scenario)
  try {
    const child = spawn(bunProgram(), [...bunWords(), MAIN, ...wordsFor(wish, scenario.file)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const world = await firstLine(child).catch((error: Error) => {
      throw new Error(scenario.nameless(error.message))
    })
    letGo(child)
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

function wordsFor(wish: DemoWish, scenario: string | undefined): string[] {
  const words = ['demo', '--json', '--still', '--until-stdin-ends']
  words.push('--port', String(wish.port), '--seed', String(wish.seed), '--streams', String(wish.streams))
  words.push('--settings', JSON.stringify(wish.settings))
  if (wish.clock !== undefined) words.push('--clock', new Date(wish.clock.at).toISOString())
  if (wish.clock?.running) words.push('--clock-runs')
  if (wish.data !== undefined) words.push('--data', wish.data)
  if (scenario !== undefined) words.push('--scenario', scenario)
  return words
}

interface ScenarioFile {
  readonly file: string | undefined
  /** What the child says of a file that nobody but us knows. */
  nameless(sentence: string): string
  remove(): void
}

/** The scenario as a file, which is ours to name and to remove if it was none. */
function fileOf(scenario: DemoWish['scenario']): ScenarioFile {
  if (scenario === undefined || typeof scenario === 'string') {
    return { file: scenario, nameless: sentence => sentence, remove: () => undefined }
  }
  const folder = mkdtempSync(join(tmpdir(), 'strand-scenario-'))
  const file = join(folder, 'scenario.json')
  writeFileSync(file, JSON.stringify(scenario))
  return {
    file,
    nameless: sentence => sentence.replace(file, 'the scenario'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Its one line says that it serves. Whatever it complains of is shown, and is the reason if it ends instead. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    let complained = ''
    const deadline = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`Strand did not start within ${START_MILLISECONDS / 1000} seconds: ${complained}`))
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
      complained += chunk
    })
    child.once('error', error => {
      clearTimeout(deadline)
      reject(new Error(`Strand cannot be started: ${error.message}`))
    })
    child.once('close', code => {
      clearTimeout(deadline)
      reject(new Error(complained.trim() || `Strand ended with exit code ${code}`))
    })
  })
}

/** Our event loop does not wait for the child. */
function letGo(child: ChildProcess): void {
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
