/** What a page of the site costs, rendered by the server as a visitor without cookies first gets it, and its cached parts. */
import type { Measure } from '../bench.ts'
import type { BenchRequest } from '../load/request.ts'
import { median } from '../statistics.ts'
import { askBytes } from './prepare.ts'
import { inTurns, loadOn, secondsOfTurns } from './rounds.ts'

const PART = /"(\/assets\/[^"]+)"/g

export const pages: Measure = {
  name: 'pages',
  block: 'others',
  seconds: ({ pace }) => 4 * secondsOfTurns(pace, 1),
  run: async bench => {
    const { world, strand } = await bench.ground()
    const ids = world.liveIds.slice(0, 100).map(id => `id=${id}`)
    const users = await askBytes(strand, { path: `/helix/users?${ids.join('&')}`, token: world.appToken })
    const logins: string[] = JSON.parse(users.toString()).data.map((user: { login: string }) => user.login)
    const front = (await askBytes(strand, { path: '/', isBrowser: true })).toString()
    const parts = [...new Set([...front.matchAll(PART)].map(([, path = '']) => path))]
    const measured = [
      ['Page `/`', ['/']],
      ['Page `/<login>`, a hundred channels', logins.map(login => `/${login}`)],
      ['Page `/docs`', ['/docs']],
      [`${parts.length} scripts, styles and fonts of \`/\``, parts],
    ] as const
    const results = []
    for (const [work, paths] of measured) {
      const requests: BenchRequest[] = paths.map(path => ({ path, isBrowser: true }))
      const body = await askBytes(strand, requests[0] ?? { path: '/' })
      const typical = { requests, body: body.subarray(0, 200) }
      const [rounds = []] = await inTurns(bench.plan.pace, [loadOn(bench, strand, typical)])
      const costs = rounds.map(({ cost }) => cost / 1000)
      const spread = [Math.min(...costs), Math.max(...costs)] as const
      const goal =
        paths === parts ? { unit: 'ms of CPU, cached', atMost: 0.3 } : { unit: 'ms of CPU', atMost: 3 }
      results.push({ work, value: median(costs), spread, ...goal })
    }
    return results
  },
}
