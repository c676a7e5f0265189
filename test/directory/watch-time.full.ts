/**
 * Random schedules of viewers, tabs and nodes, half of them with killed nodes. PostgreSQL gets a tenth of them.
 *
 * A longer run: TEST_SCHEDULES=100000
 */
import { afterAll, beforeAll, describe, test } from 'bun:test'
import { engines } from '../support/server.ts'
import { schedules, schedulesWithKills, WatchWorld } from './watch-time.ts'

const SCHEDULES = Number(process.env.TEST_SCHEDULES || 1000)

for (const engine of engines) {
  const count = SCHEDULES / (engine === 'sqlite' ? 1 : 10)
  describe(`${count} schedules on ${engine}`, () => {
    let watch: WatchWorld
    beforeAll(async () => {
      watch = await WatchWorld.open(engine)
    })
    afterAll(() => watch.close())

    for (const [name, schedule] of [
      ['without kills', schedules],
      ['with kills', schedulesWithKills],
    ] as const)
      test(
        `${name} credit each minute once`,
        () => watch.trySchedules(schedule, count / 2),
        60_000 + count * 100,
      )
  })
}
