import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chownSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { openDataFolder } from '../../src/config/data-folder.ts'
import { OperatorError } from '../../src/kit/operator-error.ts'
import { openStoreWithKeys } from '../../src/server/open-store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'strand-data-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = () => openDataFolder(readConfig({ STRAND_DATA: folder }, undefined))

test('the first start makes the secrets, for the owner alone; the next one reads them', () => {
  const first = open()
  expect(open()).toMatchObject({ operatorToken: first.operatorToken })
  expect(open().ring.newest).toBe(first.ring.newest)
  for (const name of ['operator-token', 'master-keys']) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  }
})

test('programs that start together agree on the secrets', async () => {
  const script = `
    import { readConfig } from './src/config/config.ts'
    import { openDataFolder } from './src/config/data-folder.ts'
    const { operatorToken, ring } = openDataFolder(readConfig({ STRAND_DATA: process.argv[1] }, undefined))
    process.stdout.write(operatorToken + ' ' + ring.newest)`
  for (let round = 0; round < 4; round++) {
    const shared = join(folder, String(round))
    const children = Array.from({ length: 8 }, () =>
      Bun.spawn([process.execPath, '-e', script, shared], { stdout: 'pipe', stderr: 'inherit' }),
    )
    const answers = await Promise.all(children.map(child => new Response(child.stdout).text()))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/^sopr_\w{38} \w{8}$/)
    expect(readdirSync(shared).sort()).toEqual(['master-keys', 'operator-token'])
  }
})

test('a secret that was lost is not created again in silence', () => {
  for (const name of ['operator-token', 'master-keys']) {
    writeFileSync(join(folder, name), '\n')
    expect(open).toThrow(OperatorError)
    rmSync(join(folder, name))
  }
})

test.skipIf(process.getuid?.() !== 0)(
  'what root makes belongs to the owner of the folder, also the files of the store',
  async () => {
    const [uid, gid] = [65533, 65532]
    chownSync(folder, uid, gid)
    const { store } = await openStoreWithKeys(readConfig({ STRAND_DATA: folder }, undefined))
    const files = readdirSync(folder).sort()
    expect(files).toEqual(['master-keys', 'operator-token', 'strand.db', 'strand.db-shm', 'strand.db-wal'])
    for (const name of files) expect(statSync(join(folder, name))).toMatchObject({ uid, gid })
    await store.close()
  },
)
