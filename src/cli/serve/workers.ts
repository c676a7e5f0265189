/**
 * Several processes on one port. Each is a complete server on the same store, and the kernel distributes the connections
 * among them. This process serves no requests: it starts the workers, replaces one that exited or no longer responds, and
 * stops them all. A worker that keeps failing does not affect the others; the command fails only if none has ever served.
 */
import { createServer } from 'node:net'
import type { Address } from '../../config/config.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import { listenFailure } from '../../server/serve.ts'
import { TICK_MILLISECONDS, WorkerHeartbeat } from './worker-heartbeat.ts'
import { MetricsExchange } from './worker-metrics.ts'

/** The pause before a worker is replaced. It doubles with each short life in a row. */
const FIRST_PAUSE_MILLISECONDS = 1000
const MAX_PAUSE_MILLISECONDS = 30_000
/** A worker that served for less than this counts as failed. */
const SHORT_LIFE_MILLISECONDS = 10_000
/** How often the first worker is started if a signal kills it before it serves. One that exits has logged the reason. */
const MAX_FIRST_STARTS = 3
/** How long to wait for the others before the server counts as ready without them. */
const READY_MILLISECONDS = 30_000
/** How long a worker may take to stop, in addition to its drain time. */
const STOP_MILLISECONDS = 20_000

/** Sent by a worker when it serves. */
const READY = 'ready'
/** Sent by the supervisor, and returned by the worker. */
const HEARTBEAT = 'heartbeat'

export interface WorkerPlan {
  readonly count: number
  /** The command that starts a worker, without the flag for its name. */
  readonly command: readonly string[]
  readonly drainSeconds: number
  readonly log: Log
  readonly stopRequested: Promise<void>
}

/** The pause before the next start, after this many short lives in a row. */
export function pauseAfter(shortLives: number): number {
  return Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** Math.max(0, shortLives - 1), MAX_PAUSE_MILLISECONDS)
}

/** Runs the workers until a stop is requested. Throws if none has ever served. */
export async function superviseWorkers(plan: WorkerPlan, onReady: (serving: number) => void): Promise<void> {
  const supervisor = new Supervisor(plan)
  try {
    await supervisor.startAll()
    if (!supervisor.isStopping) onReady(supervisor.serving)
    await plan.stopRequested
  } finally {
    await supervisor.stop()
  }
}

class Supervisor {
  readonly #plan: WorkerPlan
  /** The running workers, by name. */
  readonly #workers = new Map<number, Worker>()
  readonly #lives: Promise<void>[] = []
  readonly #exchange: MetricsExchange
  readonly #timer: Timer
  readonly #stop = Promise.withResolvers<void>()
  #isStopping = false
  #restarts = 0
  #stalls = 0

  constructor(plan: WorkerPlan) {
    this.#plan = plan
    this.#exchange = new MetricsExchange(
      () => new Map(Array.from(this.#workers, ([name, { child }]) => [String(name), child])),
      () => ({
        configured: plan.count,
        serving: this.serving,
        restarts: this.#restarts,
        stalls: this.#stalls,
      }),
    )
    this.#timer = setInterval(() => this.#checkHeartbeats(), TICK_MILLISECONDS)
    void plan.stopRequested.then(() => this.#beginStop())
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get serving(): number {
    return [...this.#workers.values()].filter(worker => worker.isServing).length
  }

  /** Starts the first worker, which prepares the store and the secrets, and the others when it serves. */
  async startAll(): Promise<void> {
    const { count, stopRequested } = this.#plan
    const first = await this.#startFirst()
    if (first === undefined) return
    const others = Array.from({ length: count - 1 }, (_, index) => this.#start(index + 1))
    for (const worker of [first, ...others]) this.#lives.push(this.#keepAlive(worker))
    await Promise.race([
      Promise.all(others.map(worker => worker.settled)),
      Bun.sleep(READY_MILLISECONDS),
      stopRequested,
    ])
  }

  /** Stops all workers gracefully, and kills those that take too long. */
  async stop(): Promise<void> {
    this.#beginStop()
    const running = [...this.#workers.values()]
    for (const { child } of running) child.kill('SIGTERM')
    const maxWait = this.#plan.drainSeconds * 1000 + STOP_MILLISECONDS
    const force = setTimeout(() => {
      for (const { child, name } of this.#workers.values()) {
        this.#plan.log.error({ worker: name }, 'worker did not stop in time and was killed')
        child.kill('SIGKILL')
      }
    }, maxWait)
    await Promise.all(running.map(({ exited }) => exited))
    await Promise.all(this.#lives)
    clearTimeout(force)
    clearInterval(this.#timer)
  }

  #beginStop(): void {
    this.#isStopping = true
    this.#stop.resolve()
  }

  /** Returns undefined if a stop is requested in between. */
  async #startFirst(): Promise<Worker | undefined> {
    for (let starts = 1; ; starts++) {
      const worker = this.#start(0)
      await Promise.race([worker.settled, this.#plan.stopRequested])
      if (this.#isStopping) return undefined
      if (worker.isServing) return worker
      const signal = worker.child.signalCode
      if (signal === null || starts === MAX_FIRST_STARTS) throw new OperatorError('worker 0 did not start')
      this.#plan.log.error(
        { worker: 0, signal },
        'the first worker was killed before it served; restarting it',
      )
      await this.#pause(pauseAfter(starts))
      if (this.#isStopping) return undefined
    }
  }

  async #keepAlive(first: Worker): Promise<void> {
    const { name } = first
    let shortLives = 0
    for (let worker = first; ; worker = this.#start(name)) {
      await worker.exited
      if (this.#isStopping) return
      shortLives = worker.servedMilliseconds() < SHORT_LIFE_MILLISECONDS ? shortLives + 1 : 0
      const pause = pauseAfter(shortLives)
      const { exitCode: code, signalCode: signal } = worker.child
      this.#plan.log.error(
        { worker: name, code, signal, serving: this.serving, retry_seconds: pause / 1000 },
        worker.isServing ? 'worker exited; restarting it' : 'worker did not start; retrying',
      )
      await this.#pause(pause)
      if (this.#isStopping) return
      this.#restarts += 1
    }
  }

  #pause(milliseconds: number): Promise<unknown> {
    return Promise.race([Bun.sleep(milliseconds), this.#stop.promise])
  }

  #start(name: number): Worker {
    const worker = new Worker(name, this.#plan.command, this.#exchange)
    this.#workers.set(name, worker)
    void worker.exited.then(() => {
      if (this.#workers.get(name) === worker) this.#workers.delete(name)
    })
    return worker
  }

  /** Ignores workers that are stopping, which have another deadline. */
  #checkHeartbeats(): void {
    if (this.#isStopping) return
    for (const worker of this.#workers.values()) {
      if (!worker.isStuck(performance.now())) continue
      this.#stalls += 1
      this.#plan.log.error({ worker: worker.name }, 'worker did not respond and was killed')
      worker.child.kill('SIGKILL')
    }
  }
}

class Worker {
  readonly name: number
  readonly child: Bun.Subprocess
  /** Resolves when it serves or exits, whichever comes first. */
  readonly settled: Promise<void>
  readonly exited: Promise<unknown>
  readonly #heartbeat = new WorkerHeartbeat()
  #servingSince: number | undefined

  constructor(name: number, command: readonly string[], exchange: MetricsExchange) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.name = name
    this.child = Bun.spawn([...command, '--worker', String(name)], {
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (message, child) => {
        if (message === HEARTBEAT) return this.#heartbeat.returned()
        if (message !== READY) return exchange.receive(message, child)
        this.#servingSince = performance.now()
        resolve()
      },
    })
    this.settled = promise
    this.exited = this.child.exited.then(() => resolve())
  }

  /** Whether it serves, or did until it exited. */
  get isServing(): boolean {
    return this.#servingSince !== undefined
  }

  servedMilliseconds(): number {
    return this.#servingSince === undefined ? 0 : performance.now() - this.#servingSince
  }

  /** Sends the next heartbeat. Returns whether too many have been missed. */
  isStuck(now: number): boolean {
    const isStuck = this.#heartbeat.tick(now, { isServing: this.isServing })
    try {
      this.child.send(HEARTBEAT)
    } catch {
      // It has just exited, which `exited` reports.
    }
    return isStuck
  }
}

/** In a worker: notifies the supervisor that it serves. */
export function reportReady(): void {
  process.send?.(READY)
}

/**
 * In a worker: returns heartbeats, and resolves when the supervisor requests a stop or is gone. A terminal sends Ctrl-C to
 * both processes; the worker ignores it and waits for the supervisor.
 */
export function listenToSupervisor(): Promise<void> {
  process.on('SIGINT', () => undefined)
  process.on('message', message => {
    if (message === HEARTBEAT) process.send?.(HEARTBEAT)
  })
  return new Promise(resolve => {
    process.on('SIGTERM', () => resolve())
    process.on('disconnect', () => resolve())
  })
}

/** Checks that the port is free, and picks one for port 0. Workers share the port, so they cannot detect another program on it. */
export async function claimAddress({ host, port }: Address, remedy: string): Promise<Address> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', error => reject(listenFailure({ host, port }, error, remedy)))
    probe.listen({ host, port, exclusive: true }, () => {
      const bound = probe.address()
      const actualPort = typeof bound === 'object' && bound !== null ? bound.port : port
      probe.close(() => resolve({ host, port: actualPort }))
    })
  })
}
