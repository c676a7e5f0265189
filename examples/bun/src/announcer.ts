import { createEventReceiver } from 'strand-server/client'

/** Receives webhooks on a free port and passes on a line for each broadcast that starts or ends. */
export function startAnnouncer(secret: string, announce: (line: string) => void) {
  return Bun.serve({
    port: 0,
    hostname: 'localhost',
    fetch: createEventReceiver({
      secrets: secret,
      onEvent: received => {
        if (received.type === 'stream.online') announce(`${received.event.broadcaster_user_login} is live`)
        if (received.type === 'stream.offline')
          announce(`${received.event.broadcaster_user_login} is offline`)
      },
    }),
  })
}
