/** A server that listens and is not ready: its store is open, and what prepares it waits. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/kit/telemetry/log.ts'
import { startServer } from '../../../src/server/serve.ts'
import { freePort } from '../store/postgres.ts'

export interface StartingServer {
  readonly url: string
  /** Lets it become ready, and waits until it is. */
  finish(): Promise<void>
  stop(): Promise<void>
}

export async function holdStart(): Promise<StartingServer> {
  const folder = mkdtempSync(join(tmpdir(), 'strand-starting-'))
  const listen = `127.0.0.1:${await freePort()}`
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const strand = startServer({
    config: readConfig({ STRAND_LISTEN: listen, STRAND_DATA: folder }, undefined, {}),
    log: createLog({ level: 'silent', readable: false }),
    prepare: () => {
      reached.resolve()
      return gate.promise
    },
  })
  await Promise.race([reached.promise, strand])
  return {
    url: `http://${listen}`,
    finish: async () => {
      gate.resolve()
      await strand
    },
    stop: async () => {
      gate.resolve()
      await (await strand).stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
