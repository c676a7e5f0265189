/** What is different in each subscription; version 1 of its type. */
export interface Wanted {
  readonly type: string
  readonly condition: Readonly<Record<string, string>>
  readonly transport: { readonly callback: string } | { readonly session_id: string }
}

const SECRET = 'ten characters at least'

/** Gives the function that ends the subscription. */
export async function subscribe(url: string, token: string, wanted: Wanted): Promise<() => Promise<void>> {
  const { type, condition, transport: to } = wanted
  const transport =
    'callback' in to ? { method: 'webhook', secret: SECRET, ...to } : { method: 'websocket', ...to }
  const path = `${url}/helix/eventsub/subscriptions`
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const answer = await fetch(path, {
    method: 'POST',
    headers,
    body: JSON.stringify({ type, version: '1', condition, transport }),
  })
  const text = await answer.text()
  if (answer.status !== 202) throw new Error(`subscribing answered ${answer.status}: ${text}`)
  const [{ id }] = JSON.parse(text).data
  return async () => {
    const ended = await fetch(`${path}?id=${id}`, { method: 'DELETE', headers })
    if (ended.status !== 204) throw new Error(`ending a subscription answered ${ended.status}`)
  }
}

const LOOK_MILLISECONDS = 50
const MAX_LOOKS = 600

/** Waits until the callbacks of all subscriptions of the app are verified. */
export async function untilEnabled(url: string, token: string): Promise<void> {
  const pending = 'status=webhook_callback_verification_pending'
  for (let look = 0; look < MAX_LOOKS; look++) {
    const answer = await fetch(`${url}/helix/eventsub/subscriptions?${pending}`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    const { data } = (await answer.json()) as { data: readonly unknown[] }
    if (data.length === 0) return
    await Bun.sleep(LOOK_MILLISECONDS)
  }
  throw new Error('callbacks were not verified')
}
