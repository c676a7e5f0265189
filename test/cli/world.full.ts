/** A whole world, built from nothing by the command line alone, and judged by the acceptance suite. */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCOPES } from '../../src/contract/scope.ts'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { judge } from '../support/server/acceptance.ts'
import { freePort } from '../support/store/postgres.ts'

const shell = new Shell()
afterAll(async () => {
  await endAllProcesses()
  shell.remove()
})

const scopes = SCOPES.map(scope => `--scope ${scope}`).join(' ')

/** The one row that a line answers. */
async function make(line: string) {
  const [row] = await shell.ask(`strand ${line}`)
  return row
}

/** Lines that do not wait for each other, a few at a time. */
async function makeAll(lines: readonly string[]): Promise<void> {
  const waiting = [...lines]
  const work = async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) await make(line)
  }
  await Promise.all([work(), work(), work()])
}

/** Some seventy processes, one after the other or a few at once: on a busy machine that takes its time. */
test('the demo world, by command-line calls alone', async () => {
  await shell.output('strand migrate')
  const [reef, north] = [
    await make('org create "Reef Interactive"'),
    await make('org create "Northlight Games"'),
  ]
  const game = await make(`game create Tidefall --org ${reef.id}`)
  const other = await make(`game create Orchard --org ${north.id}`)
  const benefit = await make(`benefit create "Coral lantern" --org ${reef.id} --game ${game.id}`)
  const key = await make(`benefit create "Orchard key" --org ${north.id} --game ${other.id}`)
  const names = ['lunar_otter', 'brave_newt', 'quiet_heron', 'plucky_jackal']
  const crowd = Array.from({ length: 12 }, (_, n) => `channel_${n}`)
  await makeAll([...names, ...crowd].map(login => `user create ${login}`))
  await make(`org member add ${reef.id} lunar_otter`)

  const client = await make(`client create "Reef drops back end" --org ${reef.id}`)
  const other_client = await make(`client create "Northlight overlay" --org ${north.id}`)
  const appToken = async ({ id }: { id: string }) =>
    (await make(`token create --client ${id}`)).access_token as string
  const person = async (login: string) => ({
    login,
    id: (await make(`user show ${login}`)).id as string,
    token: (await make(`token create --client ${client.id} --user ${login} ${scopes}`))
      .access_token as string,
  })
  const [broadcaster, viewer, editor, offline] = await Promise.all(names.map(person))
  if (!broadcaster || !viewer || !editor || !offline) throw new Error('a user is missing')

  await make(`channel edit lunar_otter --title "First light" --game ${game.id} --tag Relaxed --language en`)
  await make('editor add lunar_otter quiet_heron')
  await makeAll(['lunar_otter', ...crowd].map((login, n) => `stream start ${login} --viewer-count ${n * 3}`))
  await make('viewer set lunar_otter=478 channel_0=12')
  await make('follow add brave_newt lunar_otter')
  await make('follow add brave_newt plucky_jackal')
  const grant = { user_id: viewer.id, benefit_id: benefit.id, game_id: game.id }
  shell.write('grants.json', JSON.stringify({ grants: Array(120).fill(grant) }))
  await make('entitlement grant --body grants.json')
  await make(`entitlement grant --user brave_newt --benefit ${key.id} --game ${other.id}`)
  expect(await shell.ask(`strand entitlement list --org ${reef.id} --all`)).toHaveLength(120)

  const port = await freePort()
  await shell.start(`strand serve --listen localhost:${port}`).serving()
  const base_url = `http://localhost:${port}`
  await judge(
    {
      base_url,
      helix_url: `${base_url}/helix`,
      oauth_url: `${base_url}/oauth2`,
      control_url: `${base_url}/control`,
      operator_token: readFileSync(join(shell.data, 'operator-token'), 'utf8').trim(),
      client: { id: client.id, secret: client.secret, app_token: await appToken(client) },
      other_client: {
        id: other_client.id,
        secret: other_client.secret,
        app_token: await appToken(other_client),
      },
      users: [{ scopes: SCOPES }],
      broadcaster,
      viewer,
      editor,
      offline,
      game,
      benefit,
    },
    shell.folder,
  )
}, 180_000)
