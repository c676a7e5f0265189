/** `strand media add`, called with the mistakes that people make. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runStrand } from '../maintenance/installation.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-media-'))
const add = (...words: string[]) => runStrand(['media', 'add', ...words, '--data', folder])

beforeAll(async () => {
  expect((await runStrand(['migrate', '--data', folder])).code).toBe(0)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('strand media add', () => {
  test.each([
    [['nginx', 'edge'], 'invalid <adapter>: must be one of nginx-rtmp, mediamtx, '],
    [
      ['srs', 'Edge_1'],
      'invalid <name>: must be 1 to 40 lower-case letters, digits or hyphens, not "Edge_1"',
    ],
    [['srs', 'edge', '--api-url', 'localhost:1985'], 'invalid --api-url: must be an http or https URL'],
    [['srs', 'edge', '--callback-url', 'strand'], 'invalid --callback-url: must be an http or https URL'],
    [
      ['srs', 'edge', '--playback-url', 'https://media.example.org/hls?name={login}'],
      'invalid --playback-url: must be an http or https URL or a path of this host, with {login} once in its path, ',
    ],
  ])('exit 2 and what to change: %p', async (words, message) => {
    const { code, stdout, stderr } = await add(...words)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`strand: ${message}`)])
  })

  test('exit 0 the second time without the secret, and how to get another', async () => {
    const first = await add('srs', 'origin')
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toMatch(/on_publish http:\/\/127\.0\.0\.1:8080\/ingest\/srs\/origin\/smed_\w+;/)
    const second = await add('srs', 'origin')
    expect(second.code).toBe(0)
    expect(second.stdout).toContain('/ingest/srs/origin/<secret>;')
    expect(second.stderr).toContain('replace it with strand media rotate origin')
  })

  test('exit 0 a playback URL stays until it is removed', async () => {
    const playback_url = 'https://media.example.org/hls/{login}.m3u8'
    const shown = async () =>
      JSON.parse((await runStrand(['media', 'show', 'edge', '--json', '--data', folder])).stdout).data[0]
        .playback_url
    await add('srs', 'edge', '--playback-url', playback_url)
    await add('srs', 'edge')
    expect(await shown()).toBe(playback_url)
    const words = ['media', 'set', 'edge', '--adapter', 'srs', '--no-playback-url', '--data', folder]
    expect((await runStrand(words)).code).toBe(0)
    expect(await shown()).toBeNull()
  })
})
