/** What a page of the site costs, rendered by the server as a visitor without cookies first gets it, and its cached parts. */
import type { Measure, Result } from '../bench.ts'
import { ask } from '../load/http.ts'
import { loadOn } from '../load/wrk.ts'
import { ofRounds } from '../statistics.ts'
import { inTurns } from './compare.ts'

const PART = /"(\/assets\/[^"]+)"/g
/** As browsers ask. */
const headers = { Accept: 'text/html', 'Accept-Encoding': 'gzip, br' }

export const pages: Measure = {
  name: 'pages',
  run: async bench => {
    const { world, strand } = await bench.ground()
    const ids = world.liveIds.slice(0, 100).map(id => `id=${id}`)
    const users = await ask(strand, { path: `/helix/users?${ids.join('&')}`, token: world.appToken })
    const logins: string[] = JSON.parse(users.toString()).data.map((user: { login: string }) => user.login)
    const front = (await ask(strand, { path: '/', headers })).toString()
    const parts = [...new Set([...front.matchAll(PART)].map(([, path = '']) => path))]
    const page = { unit: 'ms of CPU', atMost: 3 }
    const measured = [
      { work: 'Page `/`', ...page, paths: ['/'] },
      { work: 'Page `/<login>`, a hundred channels', ...page, paths: logins.map(login => `/${login}`) },
      { work: 'Page `/docs`', ...page, paths: ['/docs'] },
      { work: `${parts.length} cached parts of \`/\``, unit: 'ms of CPU, cached', atMost: 0.3, paths: parts },
    ]
    const results: Result[] = []
    for (const { paths, ...row } of measured) {
      // The length of compressed answers is not that of a sample.
      const load = { requests: paths.map(path => ({ path, headers })), body: Buffer.alloc(200) }
      const [rounds = []] = await inTurns(bench.plan.pace, [loadOn(bench, strand, load)])
      const costs = rounds.map(({ cost }) => cost / 1000)
      results.push({ ...row, ...ofRounds(costs) })
    }
    return results
  },
}
