import type { Input } from './request.ts'

/** The most ids in one request. */
const BATCH = 100

interface Outcome {
  readonly status: string
  readonly ids: readonly string[]
}

/** Updates any number of entitlements, one request after the other, and merges the outcomes by status. */
export async function updateAll(
  update: (input: Input) => Promise<unknown>,
  input: Input,
): Promise<{ data: Outcome[] }> {
  const given = input.entitlement_ids
  if (!Array.isArray(given)) throw new TypeError('UpdateDropsEntitlements needs "entitlement_ids", a list')
  const ids = [...new Set(given as readonly string[])]
  const merged = new Map<string, string[]>()
  for (let at = 0; at < ids.length; at += BATCH) {
    const answer = await update({ ...input, entitlement_ids: ids.slice(at, at + BATCH) })
    for (const { status, ids } of (answer as { data: Outcome[] }).data)
      merged.set(status, [...(merged.get(status) ?? []), ...ids])
  }
  return { data: [...merged].map(([status, ids]) => ({ status, ids })) }
}
