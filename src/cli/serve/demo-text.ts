/** What the demo prints for people: a screen when it starts, and lines to paste when they are asked for. */
import type { World } from '../../demo/described-world.ts'
import type { Demo } from '../../server/serve-demo.ts'
import { paintFor } from '../terminal/colour.ts'

/** Fits a terminal of 80 columns and 24 lines, so that the address does not scroll away. */
export function startScreen(
  { world, seed, strict }: Demo,
  folder: string | undefined,
  linesCommand: string,
): string {
  const { broadcaster, client, base_url, rtmp } = world
  const paint = paintFor(process.stdout)
  const row = (label: string, value: string) => `  ${paint(label.padEnd(11), 'dim')}${value}`
  const headers = strict ? `${authorize(client.app_token, client.id)} ` : ''
  const kept = folder === undefined ? 'deleted when you stop it' : `kept in ${folder}`
  const lines = [
    '',
    `  ${paint(base_url, 'bold')}`,
    '',
    row('Log in', `${broadcaster.login}, password ${world.users[0]?.password} (of every user)`),
    row('API', `curl ${headers}'${base_url}/helix/streams?first=3'`),
    row('Console', `${base_url}/console`),
    row('', `operator token ${world.operator_token}`),
    ...(rtmp === undefined
      ? []
      : [
          row('Go live', `as ${rtmp.login} on the server ${rtmp.url}`),
          row('', `stream key ${rtmp.stream_key}`),
        ]),
    row('Drops', `${base_url}/drops  (two minutes of watching earn one)`),
    row('Reference', `${base_url}/docs`),
    row('More', `${linesCommand}  (tokens, ids, lines to paste)`),
    '',
    ...(world.proxy === undefined ? [] : [usingProxy(world)]),
    `Strand is serving a demo world (seed ${seed}, ${kept}${strict ? ', strict mode' : ''}).`,
    'Stop it with Ctrl-C.',
    '',
  ]
  return `${lines.join('\n')}\n`
}

/** In strict mode a call needs both headers; otherwise they do no harm. */
const authorize = (token: string, client_id: string) =>
  `-H 'Authorization: Bearer ${token}' -H 'Client-Id: ${client_id}'`

export function demoLines(world: World): string {
  const { broadcaster, client, base_url } = world
  const authorization = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: 'http://localhost:3000/callback',
    scope: 'user:read:follows channel:read:stream_key',
  })
  const asClient = authorize(client.app_token, client.id)
  const asUser = authorize(broadcaster.token, client.id)
  return `
See who is live in a browser. The console needs the operator token:

  ${base_url}

  ${base_url}/console

${goingLive(world)}${usingProxy(world)}  Base URL        ${base_url}
  Client          ${client.id}
  Client secret   ${client.secret}
  App token       ${client.app_token}
  User token      ${broadcaster.token}
                  (${broadcaster.login}, user ${broadcaster.id}, live, every scope)
  Operator token  ${world.operator_token}
  Log in          ${broadcaster.login}, password ${world.users[0]?.password} (of every user)
${scenarioTable(world.scenario)}
Call the API:

  curl ${asClient} '${base_url}/helix/streams?first=3'

  curl ${asClient} '${base_url}/helix/entitlements/drops?first=3'

  curl -X POST ${asUser} '${base_url}/helix/streams/markers?user_id=${broadcaster.id}&description=hello'

Log in to an application, which would listen on localhost:3000:

  ${base_url}/oauth2/authorize?${authorization}

Everything else: ${base_url}/docs
`
}

/** A line that makes the offline channel of the demo live. */
function goingLive({ rtmp, base_url }: World): string {
  if (rtmp === undefined) return ''
  const { url, login, stream_key } = rtmp
  return `Go live as ${login} with OBS, or with this line:

  Server          ${url}
  Stream key      ${stream_key}

  ffmpeg -re -f lavfi -i testsrc2=size=1280x720:rate=30 -f lavfi -i sine -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 60 -c:a aac -f flv '${url}/${stream_key}'

Watch it in a browser, on the home page or here, or in another player:

  ${base_url}/${login}

  ffplay ${base_url}/live/${login}.m3u8

`
}

/** The environment of programs with fixed URLs. */
function usingProxy({ proxy }: World): string {
  if (proxy === undefined) return ''
  const { url, certificate_file: file } = proxy
  return `Let programs with fixed URLs call the demo:

  export HTTPS_PROXY=${url} SSL_CERT_FILE=${file} NODE_EXTRA_CA_CERTS=${file}

`
}

/** The objects that the scenario added to the world, by name. */
function scenarioTable(scenario: World['scenario']): string {
  if (scenario === undefined) return ''
  const widest = Math.max(0, ...Object.keys(scenario).map(name => name.length))
  const rows = Object.entries(scenario).map(([name, object]) => {
    const fields = Object.entries(object).map(([field, value]) => {
      const shown = Array.isArray(value) ? value.join(' ') : String(value)
      return `${field} ${shown === '' ? '(none)' : shown}`
    })
    return `  ${name.padEnd(widest)}  ${fields.join(', ')}\n`
  })
  return `\nFrom the scenario:\n\n${rows.join('')}`
}
