import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from '../store/postgres.ts'

/** It refuses to run as root. */
const LOCAL_PEER = { uid: 65_534, gid: 65_534 }

/** PgBouncer in transaction mode before a database, with fewer connections to it than callers have. */
export async function startPgBouncer(
  program: string,
  databaseUrl: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, pathname, username } = new URL(databaseUrl)
  const database = pathname.slice(1)
  const folder = mkdtempSync(join(tmpdir(), 'strand-pgbouncer-'))
  const listening = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users.txt'), `"${username}" ""\n`)
  writeFileSync(
    settings,
    `[databases]
${database} = host=${hostname} port=${port} dbname=${database} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listening}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
`,
  )
  const asRoot = process.getuid?.() === 0
  if (asRoot) chownSync(folder, LOCAL_PEER.uid, LOCAL_PEER.gid)
  const child = Bun.spawn([program, settings], {
    ...(asRoot && LOCAL_PEER),
    cwd: folder,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = `postgres://${username}@127.0.0.1:${listening}/${database}`
  const answers = async () => {
    const client = new SQL(url, { max: 1, connectionTimeout: 10, prepare: false })
    const answered = await client.unsafe('select 1').then(
      () => true,
      () => false,
    )
    await client.close({ timeout: 0 }).catch(() => undefined)
    return answered
  }
  const deadline = performance.now() + 60_000
  while (!(await answers())) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('PgBouncer does not answer')
    await Bun.sleep(50)
  }
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
