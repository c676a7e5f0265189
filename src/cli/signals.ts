import type { Log } from '../kit/log.ts'

/** Waits for SIGTERM or SIGINT and then stops in good order. A second signal does not wait. */
export async function untilStopped(log: Log, stop: () => Promise<void>): Promise<void> {
  await new Promise<void>(resolve => {
    const onSignal = () => {
      process.on('SIGINT', () => process.exit(130))
      process.on('SIGTERM', () => process.exit(143))
      resolve()
    }
    process.once('SIGINT', onSignal)
    process.once('SIGTERM', onSignal)
  })
  log.info('stopping: finishing what was begun')
  await stop()
  log.info('stopped')
}
