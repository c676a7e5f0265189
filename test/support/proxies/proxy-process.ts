/** A proxy that runs with its file from deploy/. Only addresses and folders are replaced. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../cli/strand-process.ts'
import { freePort } from '../store/postgres.ts'
import type { ProxyName } from './proxies.ts'

export interface ProxyProcess {
  readonly name: ProxyName
  readonly url: string
  /** Where encoders publish, if it passes on RTMP. */
  readonly rtmpPort: number | undefined
  stop(): Promise<void>
}

export const pathOfProxy: Readonly<Record<ProxyName, string | undefined>> = {
  nginx: process.env.TEST_NGINX || undefined,
  haproxy: process.env.TEST_HAPROXY || undefined,
}

/** For a busy machine. */
const START_MILLISECONDS = 60_000

const FILES: Readonly<Record<ProxyName, string>> = { nginx: 'nginx.conf', haproxy: 'haproxy.cfg' }

/** Starts it in front of the two ports on loopback, and of two for RTMP; on any port unless one is given. */
export async function startProxy(
  name: ProxyName,
  ports: readonly [number, number],
  options: { readonly port?: number; readonly rtmpPorts?: readonly [number, number] } = {},
): Promise<ProxyProcess> {
  const port = options.port ?? (await freePort())
  const { rtmpPorts = [1, 1] } = options
  const rtmpPort = await freePort()
  const proxy = await start(name, FILES[name], port, '/healthz', folder => ({
    '10.0.0.11:8080': `127.0.0.1:${ports[0]}`,
    '10.0.0.12:8080': `127.0.0.1:${ports[1]}`,
    ...(name === 'haproxy' && {
      'bind :80\n': `bind 127.0.0.1:${port}\n`,
      'bind :1935\n': `bind 127.0.0.1:${rtmpPort}\n`,
      '10.0.0.11:1935': `127.0.0.1:${rtmpPorts[0]}`,
      '10.0.0.12:1935': `127.0.0.1:${rtmpPorts[1]}`,
    }),
    ...(name === 'nginx' && { 'listen 80;': `listen 127.0.0.1:${port};`, ...foldersOfNginx(folder) }),
  }))
  return { ...proxy, rtmpPort: name === 'haproxy' ? rtmpPort : undefined }
}

/** Starts the nginx for operators in front of one port on loopback, without TLS. */
export async function startControlProxy(controlPort: number): Promise<ProxyProcess> {
  const port = await freePort()
  return start('nginx', 'nginx-control.conf', port, '/metrics', folder => ({
    '127.0.0.1:8081': `127.0.0.1:${controlPort}`,
    'listen 8443 ssl;': `listen 127.0.0.1:${port};`,
    '    ssl_': '    # ssl_',
    ...foldersOfNginx(folder),
  }))
}

/** Starts the nginx with a cache for broadcasts in front of a node on loopback. */
export async function startCache(nodePort: number): Promise<ProxyProcess> {
  const port = await freePort()
  return start('nginx', 'nginx-cache.conf', port, '/healthz', folder => ({
    '127.0.0.1:8080': `127.0.0.1:${nodePort}`,
    'listen 80;': `listen 127.0.0.1:${port};`,
    // With the port, which is part of the origin here.
    'Host $host;': 'Host $http_host;',
    '/var/cache/nginx/': `${folder}/cache-`,
    ...foldersOfNginx(folder),
  }))
}

async function start(
  name: ProxyName,
  sampleFile: string,
  port: number,
  probe: string,
  changesIn: (folder: string) => Readonly<Record<string, string>>,
): Promise<ProxyProcess> {
  const folder = mkdtempSync(join(tmpdir(), `strand-${name}-`))
  // The workers of nginx run as another user, and write what they cache below it.
  chmodSync(folder, 0o711)
  const file = join(folder, sampleFile)
  const sample = readFileSync(join(ROOT, 'deploy', sampleFile), 'utf8')
  writeFileSync(file, replaced(sample, changesIn(folder)))
  const words =
    name === 'nginx'
      ? ['-p', folder, '-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;']
      : ['-db', '-f', file]
  const child = Bun.spawn([pathOfProxy[name] ?? name, ...words], { stdout: 'ignore', stderr: 'pipe' })
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}${probe}`).then(
      answer => answer.ok,
      () => false,
    )
  const deadline = performance.now() + START_MILLISECONDS
  while (!(await answers())) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill()
      throw new Error(`${name} does not answer: ${await new Response(child.stderr).text()}`)
    }
    await Bun.sleep(50)
  }
  return {
    name,
    url,
    rtmpPort: undefined,
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function foldersOfNginx(folder: string): Record<string, string> {
  return {
    '/var/log/nginx/': `${folder}/`,
    '/run/nginx.pid': `${folder}/nginx.pid`,
    'http {\n': `http {\n${temporaryFolders(folder)}`,
  }
}

/** The folders that nginx was built with may belong to another user. */
function temporaryFolders(folder: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return kinds.map(kind => `${kind}_temp_path ${folder}/${kind};\n`).join('')
}

/** A text that is not there any more would leave the test with another file than it believes. */
function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  let result = text
  for (const [from, to] of Object.entries(changes)) {
    if (!result.includes(from)) throw new Error(`${JSON.stringify(from)} is not in the sample`)
    result = result.replaceAll(from, to)
  }
  return result
}
