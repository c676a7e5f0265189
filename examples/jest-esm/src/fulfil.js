/**
 * Marks entitlements as FULFILLED and repeats the failed updates, each at most `attempts` times. Returns the ids that could not
 * be marked, by status.
 */
export async function fulfil(helix, ids, attempts = 3) {
  const refused = {}
  let open = ids
  for (let attempt = 1; open.length > 0; attempt++) {
    const { data } = await helix.updateDropsEntitlements({
      entitlement_ids: open,
      fulfillment_status: 'FULFILLED',
    })
    const {
      SUCCESS: _,
      UPDATE_FAILED: failed = [],
      ...others
    } = Object.fromEntries(data.map(row => [row.status, row.ids]))
    Object.assign(refused, others)
    if (attempt === attempts && failed.length > 0) return { ...refused, UPDATE_FAILED: failed }
    open = failed
  }
  return refused
}
