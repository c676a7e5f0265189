/** A receiver of events on loopback that answers every challenge, so that subscriptions of the fuzzer become enabled. */
export function startReceiver(): { readonly url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async request => {
      const { challenge = '' } = (await request.json()) as { challenge?: string }
      return new Response(challenge)
    },
  })
  return { url: `http://127.0.0.1:${server.port}/events`, stop: () => server.stop(true) }
}
