/**
 * Receives webhooks and answers at once. `bun bench/events/receiver.ts` does nothing else: it prints the port of its only
 * host, and receives until it is ended.
 */

export interface Receiver {
  readonly url: string
  stop(): void
}

/** Hosts differ in their port: a sender bounds how many requests each gets at once. */
export function receiveWebhooks(hosts: number, onNotification: (body: string) => void): Receiver[] {
  return Array.from({ length: hosts }, () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async request => {
        const body = await request.text()
        const kind = request.headers.get('Twitch-Eventsub-Message-Type')
        if (kind === 'webhook_callback_verification') return new Response(JSON.parse(body).challenge)
        onNotification(body)
        return new Response(null, { status: 204 })
      },
    })
    return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
  })
}

if (import.meta.main) {
  const [receiver] = receiveWebhooks(1, () => undefined)
  console.log(new URL(receiver?.url ?? '').port)
}
