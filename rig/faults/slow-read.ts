/** F31. A read of the disk takes long. The main thread waits for it (ADR 0057), and the health listener reports that. */
import { FailingDisk } from '../../test/support/cli/failing-disk.ts'
import { freePort } from '../../test/support/store/postgres.ts'
import { createLoneNode } from '../cluster/lone-node.ts'
import { readGroup, updateGroup } from '../load/entitlement-load.ts'
import { type EntitlementGroup, grantGroups, makeWorld } from '../world.ts'
import type { Finding, Trial } from './fault.ts'
import { atMost, firstSuccess, noted, shown } from './findings.ts'

const STALL_MILLISECONDS = 8000
const AFTERWARDS_MILLISECONDS = 3000
/** How often health is asked for, and how long that may take. */
const PROBE_MILLISECONDS = 100
const MAX_PROBE_SECONDS = 1
const STREAMS = 100

interface Probe {
  readonly at: number
  readonly seconds: number
  /** 0 if there was no answer. */
  readonly status: number
}

export const slowRead: Trial = {
  name: 'slow-read',
  what: 'the disk of an embedded store takes 8 s for a read',
  seconds: () => 25,
  run: async site => {
    const health = `127.0.0.1:${await freePort()}`
    let disk: FailingDisk | undefined
    const { node, caller, operatorToken } = await createLoneNode(site, 'slow-read', async data => {
      disk = await FailingDisk.make(data)
      return { ...disk?.environment, STRAND_HEALTH_LISTEN: health }
    })
    if (disk === undefined) throw new Error('slow-read needs a C compiler')
    site.lifetime.onClose(disk.remove.bind(disk))
    await node.start()
    const world = await makeWorld(caller, node.url, operatorToken, STREAMS)
    const [group] = (await grantGroups(caller, world, 1)) as [EntitlementGroup]
    // Nothing of the store is in memory then.
    await node.stop()
    await node.start()
    const alive: Probe[] = []
    const ready: Probe[] = []
    const probing = new AbortController()
    const probes = [
      probe(`http://${health}/healthz`, alive, probing.signal),
      probe(`http://${health}/readyz`, ready, probing.signal),
    ]
    const began = performance.now()
    disk.set({ reads: 'stall' })
    const reading = readGroup(caller, world, group, 'reader')
    while (disk.struck.reads === 0) await Bun.sleep(10)
    const struck = performance.now()
    const writing = updateGroup(caller, world, group, { process: 'writer', status: 'FULFILLED' })
    await Bun.sleep(STALL_MILLISECONDS)
    const healed = performance.now()
    disk.set({})
    const read = await reading
    const written = await writing
    while (firstSuccess(caller.asked, 'update', healed) === undefined) {
      if (performance.now() > healed + STALL_MILLISECONDS) break
      await updateGroup(caller, world, group, { process: 'writer', status: 'CLAIMED' })
    }
    await Bun.sleep(AFTERWARDS_MILLISECONDS)
    probing.abort()
    await Promise.all(probes)
    await node.stop()
    const isMeanwhile = ({ at }: Probe) => at > struck && at < healed
    const refused = ready.filter(each => isMeanwhile(each) && each.status === 503)
    const unready = ready.filter(each => each.at > healed && each.status === 503)
    return [
      atMost('requests to /healthz without 200', alive.filter(({ status }) => status !== 200).length, 0),
      atMost(
        'longest response time of /healthz',
        Math.max(...alive.map(each => each.seconds)),
        MAX_PROBE_SECONDS,
        ' s',
      ),
      found(
        '/readyz is 503 meanwhile',
        refused.length > 0,
        refused[0] && `after ${shown((refused[0].at - began) / 1000)} s`,
      ),
      found(
        '/readyz is 200 again',
        ready.at(-1)?.status === 200,
        `${shown(unready.length)} times 503 afterwards`,
      ),
      noted('outcomes of a read and a write that began meanwhile', `${read.outcome}, ${written.outcome}`),
      atMost('from the end of the fault to a write', firstSuccess(caller.asked, 'update', healed), 2, ' s'),
    ]
  },
}

async function probe(url: string, probes: Probe[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const at = performance.now()
    const answer = await fetch(url, { signal: AbortSignal.timeout(1000 * MAX_PROBE_SECONDS) }).catch(
      () => undefined,
    )
    await answer?.arrayBuffer().catch(() => undefined)
    probes.push({ at, seconds: (performance.now() - at) / 1000, status: answer?.status ?? 0 })
    await Bun.sleep(PROBE_MILLISECONDS)
  }
}

function found(asked: string, isFound: boolean, measured = ''): Finding {
  return {
    asked,
    measured: `${isFound ? 'yes' : 'no'} ${measured}`.trim(),
    goal: 'yes',
    verdict: isFound ? 'held' : 'broken',
  }
}
