import type { Log } from '../../kit/log.ts'

/**
 * Tells systemd that the start is over, for units of `Type=notify`. Its own program does it, because the runtime has no
 * sockets of the kind that systemd listens on; where the message goes is in the environment that the program inherits.
 */
export async function notifySystemd(log: Log): Promise<void> {
  try {
    const { exited, stderr } = Bun.spawn(['systemd-notify', '--ready'], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const error = await new Response(stderr).text()
    if ((await exited) !== 0) log.warn({ error: error.trim() }, 'systemd could not be told of the start')
  } catch (error) {
    log.warn({ error: String(error) }, 'systemd could not be told of the start')
  }
}
