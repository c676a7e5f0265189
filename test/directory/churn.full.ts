/**
 * Stable pages, over HTTP, against the real command: 20,000 channels live, 100 of them starting and 100 ending every second,
 * all viewer counts changing every second, and eight walkers who read the whole directory meanwhile. What is live during a
 * whole walk appears in it exactly once (D-33).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isoSeconds } from '../../src/kit/time/clock.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'
import { ANY_MASTER_KEYS, anyStreamKey } from '../support/store/stores.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'
const LIVE = 20_000
const OFFLINE = 2000
const WALKERS = 8
const PER_REPORT = 10_000
/** The oldest that a ranking may be, and a margin for a busy machine (D-34). */
const FRESH_MILLISECONDS = 2500

/** When a channel's streams were live, by the answers of the control API: from one answer to one question. */
interface Life {
  readonly user_id: string
  readonly stream_id: string
  readonly began: number
  ended: number
}

/** `strand serve` on a folder, as a child. */
async function serve(folder: string) {
  const listen = `127.0.0.1:${await freePort()}`
  const words = ['serve', '--data', folder, '--listen', listen]
  const environment = {
    STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
    STRAND_MASTER_KEYS: ANY_MASTER_KEYS,
    STRAND_RATE_ANONYMOUS: '0',
    STRAND_LOG: 'debug',
  }
  const strand = await new StrandProcess(words, { environment }).serving()
  const url = `http://${listen}`
  const control = async (method: string, path: string, body?: unknown): Promise<{ id: string }[]> => {
    const answer = await fetch(`${url}/control${path}`, {
      method,
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text === '' ? [] : JSON.parse(text).data
  }
  return { strand, url, control }
}

type Serving = Awaited<ReturnType<typeof serve>>

/** Lets channels come and go and viewers move, at a steady pace, until it is stopped. */
class Churn {
  readonly lives: Life[] = []
  readonly #serving: Serving
  readonly #live: Life[]
  readonly #offline: string[]
  #stopped = false
  #failure: unknown
  starts = 0
  reports = 0

  constructor(serving: Serving, live: readonly string[], offline: readonly string[]) {
    this.#serving = serving
    this.#live = live.map(user_id => ({ ...lifeOf(user_id, user_id), began: 0 }))
    this.lives.push(...this.#live)
    this.#offline = [...offline]
  }

  run(): { stop(): Promise<void> } {
    const both = Promise.all([this.#comeAndGo(), this.#moveViewers()]).catch(error => {
      this.#failure = error
    })
    return {
      stop: async () => {
        this.#stopped = true
        await both
        if (this.#failure !== undefined) throw this.#failure
      },
    }
  }

  async #comeAndGo(): Promise<void> {
    const began = performance.now()
    while (!this.#stopped) {
      const due = (performance.now() - began) / 10
      const round: Promise<void>[] = []
      for (; this.starts < due && round.length < 20; this.starts++)
        round.push(this.#startOne(), this.#endOne())
      await Promise.all(round)
      await Bun.sleep(5)
    }
  }

  async #startOne(): Promise<void> {
    const user_id = this.#offline.shift()
    if (user_id === undefined) return
    const viewer_count = this.starts % 50
    const [stream] = await this.#serving.control('PUT', `/channels/${user_id}/stream`, { viewer_count })
    const life = lifeOf(user_id, stream?.id ?? '')
    this.lives.push(life)
    this.#live.push(life)
  }

  async #endOne(): Promise<void> {
    const [life] = this.#live.splice((this.starts * 7919) % this.#live.length, 1)
    if (life === undefined) return
    life.ended = performance.now()
    await this.#serving.control('DELETE', `/channels/${life.user_id}/stream`)
    this.#offline.push(life.user_id)
  }

  async #moveViewers(): Promise<void> {
    for (let round = 1; !this.#stopped; round++) {
      const began = performance.now()
      const users = this.#live.map(life => life.user_id)
      for (let from = 0; from < users.length; from += PER_REPORT) {
        const counts = users
          .slice(from, from + PER_REPORT)
          .map((user_id, n) => [user_id, ((n + from) * 31 + round * 17) % 997])
        await this.#serving.control('POST', '/viewers', { counts: Object.fromEntries(counts) })
        this.reports += 1
      }
      while (!this.#stopped && performance.now() - began < 1000) await Bun.sleep(10)
    }
  }
}

interface Walk {
  readonly began: number
  readonly ended: number
  readonly seen: readonly string[]
  /** Those that had ended long before the page that showed them was asked for. */
  readonly ghosts: readonly string[]
}

async function walk(serving: Serving, name: string, churn: Churn): Promise<Walk> {
  const began = performance.now()
  const seen: string[] = []
  const ghosts: string[] = []
  let after = ''
  for (let page = 0; ; page++) {
    const asked = performance.now()
    const answer = await fetch(`${serving.url}/helix/streams?first=100${after}`, {
      // A new connection for each page: the system gives it to any of the workers.
      headers: { Connection: 'close', 'X-Request-Id': `${name}.${page}` },
    })
    const { data, pagination } = (await answer.json()) as {
      data: { id: string }[]
      pagination: { cursor?: string }
    }
    seen.push(...data.map(stream => stream.id))
    const gone = new Map(churn.lives.map(life => [life.stream_id, life.ended]))
    for (const { id } of data) if ((gone.get(id) ?? asked) < asked - FRESH_MILLISECONDS) ghosts.push(id)
    if (pagination.cursor === undefined) return { began, ended: performance.now(), seen, ghosts }
    after = `&after=${pagination.cursor}`
  }
}

describe('pages while everything moves', () => {
  let template = ''
  const users = Array.from({ length: LIVE + OFFLINE }, (_, n) => String(100_000 + n))

  beforeAll(async () => {
    template = mkdtempSync(join(tmpdir(), 'strand-churn-'))
    const store = createStore(await openSqliteEngine(join(template, 'strand.db')))
    const now = Date.now()
    await store.commands.runSteps({
      steps: users.flatMap((id, n) => [
        ['putUser', { id, login: `user${id}`, stream_key: anyStreamKey(id), now }] as const,
        ...(n < LIVE ? [['startStream', startOf(id, now, n)] as const] : []),
      ]),
    })
    await store.close()
  })
  afterAll(() => rmSync(template, { recursive: true, force: true }))

  test('eight walkers miss nothing and see nothing twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-churn-'))
    await Bun.$`cp ${template}/strand.db ${folder}/strand.db`.quiet()
    const serving = await serve(folder)
    try {
      const churn = new Churn(serving, users.slice(0, LIVE), users.slice(LIVE))
      const moving = churn.run()
      const walks = await Promise.all(
        Array.from({ length: WALKERS }, (_, n) => walk(serving, `walker${n}`, churn)),
      )
      await moving.stop()
      await serving.strand.end('SIGTERM')

      for (const { began, ended, seen, ghosts } of walks) {
        expect(seen.length - new Set(seen).size).toBe(0)
        expect(ghosts).toEqual([])
        const shown = new Set(seen)
        const missed = churn.lives.filter(
          life => life.began < began - FRESH_MILLISECONDS && life.ended > ended && !shown.has(life.stream_id),
        )
        expect(missed.length).toBe(0)
      }
      expect(churn.starts).toBeGreaterThan(100)
      expect(churn.reports).toBeGreaterThan(2)
    } finally {
      await endAllProcesses()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 120_000)
})

function lifeOf(user_id: string, stream_id: string): Life {
  return { user_id, stream_id, began: performance.now(), ended: Number.POSITIVE_INFINITY }
}

function startOf(user_id: string, now: number, n: number) {
  return {
    user_id,
    stream_id: user_id,
    video_id: user_id,
    started_at: isoSeconds(now - 60_000),
    viewer_count: n % 100,
  }
}
