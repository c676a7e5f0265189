import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// Not the globals: a test may have replaced them.
import { clearTimeout, setTimeout } from 'node:timers'
import { fileURLToPath, URL } from 'node:url'
import { bunWords, findBun, programFile } from '../../bin/runtime.js'
import type { World } from '../demo/described-world.ts'
import type { DemoRequest, StartedDemo } from './demo-request.ts'

const STOP_MILLISECONDS = 10_000

/**
 * Starts a demo as a child process. It cannot outlive this process, because it stops when its standard input closes. It does
 * not keep this process from exiting.
 */
export async function startChild(request: DemoRequest): Promise<StartedDemo> {
  const scenario = toScenarioFile(request.scenario)
  try {
    const child = spawn(
      bunProgram(),
      [...bunWords(packageFolder()), strandProgram(), ...argumentsFor(request, scenario.file)],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
      },
    )
    const world = await firstLine(child, request.startTimeout).catch((error: Error) => {
      throw new Error(scenario.withoutPath(error.message))
    })
    unref(child)
    return { world: JSON.parse(world) as World, stop: () => stop(child) }
  } finally {
    scenario.remove()
  }
}

/** This file also runs as a part of `dist/testing/start-strand.js` and `.cjs`, from where the path is the same. */
const packageFolder = () => fileURLToPath(new URL('../..', import.meta.url))

/** The file that Bun runs, or loads to run a demo in this process. */
export const strandProgram = () => programFile(packageFolder())

/** The running Bun; under Node, the one that npm installed with this package. */
function bunProgram(): string {
  if (process.versions.bun !== undefined) return process.execPath
  return findBun(import.meta.url)
}

function argumentsFor(request: DemoRequest, scenario: string | undefined): string[] {
  const args = ['demo', '--json', '--still', '--until-stdin-ends']
  args.push(
    '--port',
    String(request.port),
    '--seed',
    String(request.seed),
    '--streams',
    String(request.streams),
  )
  args.push('--settings', JSON.stringify(request.settings))
  if (request.clock !== undefined) args.push('--clock', new Date(request.clock.at).toISOString())
  if (request.clock?.running) args.push('--clock-runs')
  if (request.data !== undefined) args.push('--data', request.data)
  if (request.strict) args.push('--strict')
  if (scenario !== undefined) args.push('--scenario', scenario)
  return args
}

interface ScenarioFile {
  readonly file: string | undefined
  /** Removes the path of a temporary file from an error message. */
  withoutPath(message: string): string
  remove(): void
}

/** The scenario as a file: a temporary one if it is an object. */
function toScenarioFile(scenario: DemoRequest['scenario']): ScenarioFile {
  if (scenario === undefined || typeof scenario === 'string') {
    return { file: scenario, withoutPath: message => message, remove: () => undefined }
  }
  const folder = mkdtempSync(join(tmpdir(), 'strand-scenario-'))
  const file = join(folder, 'scenario.json')
  writeFileSync(file, JSON.stringify(scenario))
  return {
    file,
    withoutPath: message => message.replace(file, 'the scenario'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Waits for the line that the child prints when it serves. If it exits instead, throws what it wrote to standard error. */
function firstLine(child: ChildProcess, milliseconds: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    let errors = ''
    const deadline = setTimeout(() => {
      child.kill('SIGKILL')
      const reason = errors === '' ? 'set startTimeout to wait longer' : errors.trim()
      reject(new Error(`Strand did not start within ${milliseconds} ms: ${reason}`))
    }, milliseconds)
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk
      if (!output.endsWith('\n')) return
      clearTimeout(deadline)
      resolve(output)
      // Later errors go to the output of the test.
      child.stderr?.on('data', (more: Buffer) => process.stderr.write(more))
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk
    })
    child.once('error', error => {
      clearTimeout(deadline)
      reject(new Error(`cannot start Strand: ${error.message}`))
    })
    child.once('close', code => {
      clearTimeout(deadline)
      reject(new Error(errors.trim() || `Strand exited with code ${code}`))
    })
  })
}

/** Lets this process exit while the child runs. */
function unref(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket | null)?.unref?.()
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const exited = new Promise(resolve => child.once('exit', resolve))
  const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_MILLISECONDS)
  child.stdin?.end()
  await exited
  clearTimeout(deadline)
}
