/**
 * Several processes on one port. Each is a whole server of its own on the same store; the system hands every connection
 * to one of them. This process serves nothing: it starts them, starts one anew that died, and stops them all.
 */
import { createServer } from 'node:net'
import type { Address } from '../config.ts'
import { CannotStart } from '../kit/cannot-start.ts'
import type { Log } from '../kit/log.ts'
import { MetricsExchange } from './worker-metrics.ts'

const PAUSE_MILLISECONDS = 1000
/** A worker that lives shorter than this has failed to start; after so many in a row there is no use in trying again. */
const SHORT_LIFE_MILLISECONDS = 5000
const MOST_SHORT_LIVES = 5

/** What a worker says to the process that started it, once it serves. */
const READY = 'ready'

export interface WorkerPlan {
  readonly count: number
  /** The words that start a worker, program first, but for its name. */
  readonly words: readonly string[]
  readonly log: Log
  readonly stopAsked: Promise<void>
}

/** Runs the workers until asked to stop, or until they cannot be kept alive. */
export async function superviseWorkers(plan: WorkerPlan, onReady: () => void): Promise<void> {
  const workers: Worker[] = []
  let stopping = false
  void plan.stopAsked.then(() => {
    stopping = true
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  let restarts = 0
  const exchange = new MetricsExchange(
    () => new Map(workers.map(({ child }, name) => [String(name), child])),
    () => restarts,
  )
  const start = (name: number) => startWorker(plan, name, exchange)
  const keepAlive = async (name: number, first: Worker) => {
    let shortLives = 0
    for (let worker = first; ; worker = start(name)) {
      workers[name] = worker
      const code = await worker.child.exited
      if (stopping) return
      plan.log.error({ worker: name, code }, 'a worker died; starting another')
      shortLives = performance.now() - worker.startedAt < SHORT_LIFE_MILLISECONDS ? shortLives + 1 : 0
      if (shortLives >= MOST_SHORT_LIVES) {
        failed.reject(new CannotStart(`worker ${name} has died ${shortLives} times in a row`))
        return
      }
      await Bun.sleep(PAUSE_MILLISECONDS)
      if (stopping) return
      restarts += 1
    }
  }

  // The first one prepares the store and the secrets; if it cannot, it has said why.
  const first = start(0)
  workers.push(first)
  let lives: Promise<void>[] = []
  try {
    await Promise.race([first.ready, plan.stopAsked])
    const others = Array.from({ length: plan.count - 1 }, (_, index) => start(index + 1))
    workers.push(...others)
    lives = [first, ...others].map((worker, name) => keepAlive(name, worker))
    await Promise.race([Promise.all(others.map(worker => worker.ready)), plan.stopAsked])
    if (!stopping) onReady()
    await Promise.race([plan.stopAsked, failed.promise])
  } finally {
    stopping = true
    for (const { child } of workers) child.kill('SIGTERM')
    await Promise.all(workers.map(worker => worker.child.exited))
    await Promise.all(lives)
  }
}

interface Worker {
  readonly child: Bun.Subprocess
  readonly startedAt: number
  readonly ready: Promise<void>
}

function startWorker({ words }: WorkerPlan, name: number, exchange: MetricsExchange): Worker {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  const child = Bun.spawn([...words, '--worker', String(name)], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    ipc: (message, child) => {
      if (message === READY) resolve()
      else exchange.hear(message, child)
    },
    onExit: () => reject(new CannotStart(`worker ${name} did not start`)),
  })
  // Whoever waits hears of it; where nobody waits any longer, it is no news.
  ready.catch(() => undefined)
  return { child, startedAt: performance.now(), ready }
}

/** In a worker: says that it serves. */
export function tellReady(): void {
  process.send?.(READY)
}

/**
 * In a worker: asked to stop by the process that started it, or left alone by it. A terminal sends Ctrl-C to both; the
 * worker leaves that to the other.
 */
export function listenToSupervisor(): Promise<void> {
  process.on('SIGINT', () => undefined)
  return new Promise(resolve => {
    process.on('SIGTERM', () => resolve())
    process.on('disconnect', () => resolve())
  })
}

/** The address with a port that is free: workers share it, so they cannot notice a stranger there. */
export async function claimAddress({ host, port }: Address): Promise<Address> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', error => {
      const isTaken = (error as { code?: string }).code === 'EADDRINUSE'
      reject(
        new CannotStart(
          isTaken
            ? `port ${port} is in use: stop the other program or choose another port`
            : `cannot listen on ${host}:${port}: ${error.message}`,
        ),
      )
    })
    probe.listen({ host, port, exclusive: true }, () => {
      const bound = probe.address()
      const found = typeof bound === 'object' && bound !== null ? bound.port : port
      probe.close(() => resolve({ host, port: found }))
    })
  })
}
