import type { Log } from '../../kit/telemetry/log.ts'

/**
 * Notifies systemd that the server is ready, for units of `Type=notify`. It runs systemd-notify, which inherits
 * NOTIFY_SOCKET, because Bun does not support Unix datagram sockets.
 */
export async function notifySystemd(log: Log): Promise<void> {
  try {
    const { exited, stderr } = Bun.spawn(['systemd-notify', '--ready'], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const error = await new Response(stderr).text()
    if ((await exited) !== 0) log.warn({ error: error.trim() }, 'could not notify systemd')
  } catch (error) {
    log.warn({ error: String(error) }, 'could not notify systemd')
  }
}
