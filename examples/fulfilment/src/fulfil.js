/**
 * Grants every claimed entitlement and marks it FULFILLED. The order matters: the grant is durable before the status changes,
 * so a crash in between leaves the entitlement CLAIMED, the next pass reads it again, and `grants` ignores what it has. An
 * update whose answer is lost is repeated by the client, which changes nothing.
 *
 * Returns the number of entitlements that were marked.
 */
export async function fulfilClaimed(helix, grants) {
  let fulfilled = 0
  const claimed = { fulfillment_status: 'CLAIMED', first: 100 }
  for await (const { data } of helix.getDropsEntitlements.pages(claimed)) {
    if (data.length === 0) continue
    grants.add(data)
    const update = { entitlement_ids: data.map(({ id }) => id), fulfillment_status: 'FULFILLED' }
    const outcome = await helix.updateDropsEntitlements(update)
    // Ids with another status, such as UPDATE_FAILED, are part of the next pass if they are still CLAIMED.
    fulfilled += outcome.data.find(({ status }) => status === 'SUCCESS')?.ids.length ?? 0
  }
  return fulfilled
}
