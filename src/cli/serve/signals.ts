import type { Log } from '../../kit/log.ts'
import { OperatorError } from '../../kit/operator-error.ts'

/**
 * Listens for SIGTERM and SIGINT from now on. Called before anything is started, so that a signal that comes early is
 * kept until there is something to stop. A second signal does not wait. A launcher that started this process holds the
 * other end of a channel: when it is gone, a kill -9 included, this process stops as well and gives the port free.
 */
export function listenForStop(): Promise<void> {
  return new Promise(resolve => {
    const onSignal = () => {
      process.on('SIGINT', () => process.exit(130))
      process.on('SIGTERM', () => process.exit(143))
      resolve()
    }
    process.once('SIGINT', onSignal)
    process.once('SIGTERM', onSignal)
    if (process.connected) process.once('disconnect', onSignal)
  })
}

export async function stopGracefully(log: Log, stop: () => Promise<void>): Promise<void> {
  log.info('stopping: finishing what was begun')
  try {
    await stop()
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors : [error]
    throw new OperatorError(`stopped with errors: ${reasons.map(each => each.message).join('; ')}`)
  }
  log.info('stopped')
}
