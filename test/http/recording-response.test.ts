import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRange } from '../../src/http/responses/recording-response.ts'
import { onEachStore } from '../support/server/each-store.ts'

describe('a range of bytes', () => {
  test('is what the header asks for, within the file', () => {
    expect(readRange('bytes=0-9', 100)).toEqual({ from: 0, to: 10 })
    expect(readRange('bytes=90-', 100)).toEqual({ from: 90, to: 100 })
    expect(readRange('bytes=90-500', 100)).toEqual({ from: 90, to: 100 })
    expect(readRange('bytes=-10', 100)).toEqual({ from: 90, to: 100 })
    expect(readRange('bytes=-500', 100)).toEqual({ from: 0, to: 100 })
  })

  test('beyond the file cannot be satisfied', () => {
    expect(readRange('bytes=100-', 100)).toBe('unsatisfiable')
    expect(readRange('bytes=-0', 100)).toBe('unsatisfiable')
  })

  test('of another form is ignored', () => {
    for (const header of [
      null,
      '',
      'bytes=-',
      'bytes=5-4',
      'bytes=0-1,3-4',
      'items=0-1',
      'bytes=a-b',
      'bytes=1e3-',
    ])
      expect(readRange(header, 100)).toBeUndefined()
  })
})

onEachStore('a recording over HTTP', { config: { record: true } }, current => {
  const CONTENT = 'FLV and the rest of it'

  /** The latest video of the broadcaster, with a recording. */
  async function recordedVideo(): Promise<string> {
    const { strand, control, world } = current()
    const [video] = await control('GET', `/videos?user_id=${world.broadcaster.id}`)
    await strand.services.store.commands.noteRecording({ video_id: video.id, url: '' })
    const folder = join(strand.services.spoolFolder, 'recordings')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${video.id}.flv`), CONTENT)
    return `${current().url}/videos/${video.id}.flv`
  }

  test('200 whole, 206 in part, 416 beyond its end; HEAD has the size', async () => {
    const url = await recordedVideo()
    const whole = await fetch(url)
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/x-flv'])
    expect(whole.headers.get('access-control-allow-origin')).toBe('*')
    expect(await whole.text()).toBe(CONTENT)
    const part = await fetch(url, { headers: { Range: 'bytes=4-6' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 4-6/${CONTENT.length}`])
    expect(await part.text()).toBe('and')
    const beyond = await fetch(url, { headers: { Range: `bytes=${CONTENT.length}-` } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${CONTENT.length}`])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(CONTENT.length)])
  })

  test('404 of a video that does not exist or was not recorded', async () => {
    const { url, control, world } = current()
    const [, video] = await control('GET', `/videos?user_id=${world.broadcaster.id}`)
    for (const id of ['999', video.id]) {
      const response = await fetch(`${url}/videos/${id}.flv`)
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: 'Not Found', status: 404 },
      ])
    }
  })
})
