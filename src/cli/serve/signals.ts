import { OperatorError } from '../../kit/operator-error.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import { onStopSignal } from '../terminal/interruption.ts'

/**
 * Resolves on SIGTERM or SIGINT; a second signal exits immediately. Called before anything is started, so that a signal
 * during startup is not lost. It also resolves when the IPC channel to a launcher closes, so that the server does not
 * outlive a killed launcher and keep the port.
 */
export function listenForStop(): Promise<void> {
  return new Promise(resolve => {
    onStopSignal(() => resolve())
    if (process.connected) process.once('disconnect', () => resolve())
  })
}

export async function stopGracefully(log: Log, stop: () => Promise<void>): Promise<void> {
  log.info('stopping: finishing requests in progress')
  try {
    await stop()
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors : [error]
    throw new OperatorError(`stopped with errors: ${reasons.map(each => each.message).join('; ')}`)
  }
  log.info('stopped')
}
