/**
 * Several processes on one port. Each is a whole server of its own on the same store; the system hands every connection
 * to one of them. This process serves nothing: it starts them, replaces one that died or no longer answers, and stops
 * them all. However often one of them fails, the others go on; only if none has ever served is there nothing to go on with.
 */
import { createServer } from 'node:net'
import type { Address } from '../../config.ts'
import type { Log } from '../../kit/log.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { TICK_MILLISECONDS, WorkerHeartbeat } from './worker-heartbeat.ts'
import { MetricsExchange } from './worker-metrics.ts'

/** The pause before a worker is replaced, which doubles with each short life in a row. */
const FIRST_PAUSE_MILLISECONDS = 1000
const MAX_PAUSE_MILLISECONDS = 30_000
/** A worker that served for less than this has failed. */
const SHORT_LIFE_MILLISECONDS = 10_000
/** How often the first worker may be killed by a signal before it serves. One that ends by itself has said why. */
const MAX_FIRST_STARTS = 3
/** How long the others may take before the server is called ready without them. */
const READY_MILLISECONDS = 30_000
/** How much longer than its drain a worker may take to end. */
const LAST_ANSWERS_MILLISECONDS = 20_000

/** What a worker says to the process that started it, once it serves. */
const READY = 'ready'
/** What a worker is asked, and answers. */
const HEARTBEAT = 'pulse'

export interface WorkerPlan {
  readonly count: number
  /** The words that start a worker, program first, but for its name. */
  readonly words: readonly string[]
  readonly drainSeconds: number
  readonly log: Log
  readonly stopAsked: Promise<void>
}

/** How long to wait before the next start, after so many short lives in a row. */
export function pauseAfter(shortLives: number): number {
  return Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** Math.max(0, shortLives - 1), MAX_PAUSE_MILLISECONDS)
}

/** Runs the workers until asked to stop. Throws if none of them has ever served. */
export async function superviseWorkers(plan: WorkerPlan, onReady: (serving: number) => void): Promise<void> {
  const supervisor = new Supervisor(plan)
  try {
    await supervisor.startAll()
    if (!supervisor.isStopping) onReady(supervisor.serving)
    await plan.stopAsked
  } finally {
    await supervisor.stop()
  }
}

class Supervisor {
  readonly #plan: WorkerPlan
  /** Those that run, by name. */
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
        wanted: plan.count,
        serving: this.serving,
        restarts: this.#restarts,
        stalls: this.#stalls,
      }),
    )
    this.#timer = setInterval(() => this.#checkHeartbeats(), TICK_MILLISECONDS)
    void plan.stopAsked.then(() => this.#beginStop())
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get serving(): number {
    return [...this.#workers.values()].filter(worker => worker.isServing).length
  }

  /** The first one prepares the store and the secrets; the others follow when it serves. */
  async startAll(): Promise<void> {
    const { count, stopAsked } = this.#plan
    const first = await this.#startFirst()
    if (first === undefined) return
    const others = Array.from({ length: count - 1 }, (_, index) => this.#start(index + 1))
    for (const worker of [first, ...others]) this.#lives.push(this.#keepAlive(worker))
    await Promise.race([
      Promise.all(others.map(worker => worker.settled)),
      Bun.sleep(READY_MILLISECONDS),
      stopAsked,
    ])
  }

  /** Ends all of them in good order, and those that do not end by force. */
  async stop(): Promise<void> {
    this.#beginStop()
    const running = [...this.#workers.values()]
    for (const { child } of running) child.kill('SIGTERM')
    const maxWait = this.#plan.drainSeconds * 1000 + LAST_ANSWERS_MILLISECONDS
    const force = setTimeout(() => {
      for (const { child, name } of this.#workers.values()) {
        this.#plan.log.error({ worker: name }, 'a worker did not stop in time and was killed')
        child.kill('SIGKILL')
      }
    }, maxWait)
    await Promise.all(running.map(({ ended }) => ended))
    await Promise.all(this.#lives)
    clearTimeout(force)
    clearInterval(this.#timer)
  }

  #beginStop(): void {
    this.#isStopping = true
    this.#stop.resolve()
  }

  /** Undefined if asked to stop meanwhile. */
  async #startFirst(): Promise<Worker | undefined> {
    for (let starts = 1; ; starts++) {
      const worker = this.#start(0)
      await Promise.race([worker.settled, this.#plan.stopAsked])
      if (this.#isStopping) return undefined
      if (worker.isServing) return worker
      const signal = worker.child.signalCode
      if (signal === null || starts === MAX_FIRST_STARTS) throw new OperatorError('worker 0 did not start')
      this.#plan.log.error(
        { worker: 0, signal },
        'the first worker was killed before it served; starting another',
      )
      await this.#pause(pauseAfter(starts))
      if (this.#isStopping) return undefined
    }
  }

  async #keepAlive(first: Worker): Promise<void> {
    const { name } = first
    let shortLives = 0
    for (let worker = first; ; worker = this.#start(name)) {
      await worker.ended
      if (this.#isStopping) return
      shortLives = worker.servedMilliseconds() < SHORT_LIFE_MILLISECONDS ? shortLives + 1 : 0
      const pause = pauseAfter(shortLives)
      const { exitCode: code, signalCode: signal } = worker.child
      this.#plan.log.error(
        { worker: name, code, signal, serving: this.serving, retry_seconds: pause / 1000 },
        worker.isServing ? 'a worker died; starting another' : 'a worker did not start; trying again',
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
    const worker = new Worker(name, this.#plan.words, this.#exchange)
    this.#workers.set(name, worker)
    void worker.ended.then(() => {
      if (this.#workers.get(name) === worker) this.#workers.delete(name)
    })
    return worker
  }

  /** One that is still starting may have a store to prepare; one that is stopping has its own deadline. */
  #checkHeartbeats(): void {
    if (this.#isStopping) return
    for (const worker of this.#workers.values()) {
      if (!worker.isServing || !worker.isStuck(performance.now())) continue
      this.#stalls += 1
      this.#plan.log.error({ worker: worker.name }, 'a worker did not answer for too long and is killed')
      worker.child.kill('SIGKILL')
    }
  }
}

class Worker {
  readonly name: number
  readonly child: Bun.Subprocess
  /** Resolves when it serves or has ended, whichever comes first. */
  readonly settled: Promise<void>
  readonly ended: Promise<unknown>
  readonly #heartbeat = new WorkerHeartbeat()
  #servesSince: number | undefined

  constructor(name: number, words: readonly string[], exchange: MetricsExchange) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.name = name
    this.child = Bun.spawn([...words, '--worker', String(name)], {
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (message, child) => {
        if (message === HEARTBEAT) return this.#heartbeat.answered()
        if (message !== READY) return exchange.receive(message, child)
        this.#servesSince = performance.now()
        resolve()
      },
    })
    this.settled = promise
    this.ended = this.child.exited.then(() => resolve())
  }

  /** Whether it serves, or did until it ended. */
  get isServing(): boolean {
    return this.#servesSince !== undefined
  }

  servedMilliseconds(): number {
    return this.#servesSince === undefined ? 0 : performance.now() - this.#servesSince
  }

  /** Asks whether it still turns; tells whether that was asked too often without an answer. */
  isStuck(now: number): boolean {
    const isStuck = this.#heartbeat.tick(now)
    try {
      this.child.send(HEARTBEAT)
    } catch {
      // It has just ended, which is noticed elsewhere.
    }
    return isStuck
  }
}

/** In a worker: says that it serves. */
export function reportReady(): void {
  process.send?.(READY)
}

/**
 * In a worker: asked to stop by the process that started it, or left alone by it. A terminal sends Ctrl-C to both; the
 * worker leaves that to the other. On the way it answers whether it still turns.
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

/** The address with a port that is free: workers share it, so they cannot notice a stranger there. */
export async function claimAddress({ host, port }: Address): Promise<Address> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', error => {
      const isTaken = (error as { code?: string }).code === 'EADDRINUSE'
      reject(
        new OperatorError(
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
