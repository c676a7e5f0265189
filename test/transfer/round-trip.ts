/** What the tests of both tiers share: out of one store, into another, out again. */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { engines } from '../support/server.ts'
import { exported, imported, openStation, type Station } from './stations.ts'
import { drawWorld } from './worlds.ts'

export const textOf = (lines: readonly object[]) => lines.map(line => `${JSON.stringify(line)}\n`).join('')

export async function withStations(
  names: readonly (typeof engines)[number][],
  work: (...stations: Station[]) => Promise<void>,
): Promise<void> {
  const stations = await Promise.all(names.map(openStation))
  try {
    await work(...stations)
  } finally {
    for (const station of stations) await station.close()
  }
}

export const ways = engines.flatMap(from => engines.map(to => [from, to] as const))

/** Carries so many random worlds from one store to another. */
export async function expectRoundTrips([from, to]: (typeof ways)[number], numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: 12 }), (seed, size) =>
      withStations([from, to], async (first, second) => {
        const world = drawWorld(seed, size)
        expect((await imported(first as Station, textOf(world))).skipped).toBe(0)
        const out = await exported(first as Station)
        // Nothing is lost or made up: the same lines, but for their order.
        expect(out.split('\n').sort()).toEqual(textOf(world).split('\n').sort())
        await imported(second as Station, out)
        expect(await exported(second as Station)).toBe(out)
      }),
    ),
    { numRuns },
  )
}
