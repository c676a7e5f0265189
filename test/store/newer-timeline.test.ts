/** A primary whose timeline is newer than that of the one before: a failover, which other nodes may not have noticed yet. */
import { describe, expect, test } from 'bun:test'
import { Unavailable } from '../../src/store/errors.ts'
import { engines } from '../support/server.ts'
import { openClaiming } from './claimed-timeline.ts'

/** Every node probes once a second, and waits for an answer as long. */
const NOTICED_MILLISECONDS = 2000

const isChange = ({ msg }: { msg: string }) => msg === 'the PostgreSQL primary changed'

describe.skipIf(!engines.includes('postgres'))('a primary with a newer timeline', () => {
  test('is used when every node has had time to notice it, and a refusal until then states why', async () => {
    const { store, lines, claim, close } = await openClaiming(2)
    const read = () => store.facts.find('test').catch((error: unknown) => error)
    expect(await read()).toBeUndefined()
    await claim(3)
    let refusal = await read()
    while (refusal === undefined && !lines.some(isChange)) refusal = await read()
    const refusedAt = performance.now()
    expect(refusal).toBeInstanceOf(Unavailable)
    expect((refusal as Error).message).toContain('the server has become the primary')
    while ((await read()) instanceof Unavailable);
    // A refused read has waited a second for the primary.
    expect(performance.now() - refusedAt + 1000).toBeGreaterThan(NOTICED_MILLISECONDS)
    expect(lines.filter(isChange)).toHaveLength(1)
    await close()
  })
})
