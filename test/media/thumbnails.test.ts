import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import { ffmpegArguments } from '../../src/media/ffmpeg.ts'
import { Packager } from '../../src/media/hls/packager.ts'
import { MediaMemory } from '../../src/media/media-memory.ts'
import { readPacket } from '../../src/media/packet.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { type LiveChannel, Thumbnails, type ThumbnailsOptions } from '../../src/media/thumbnails.ts'
import { AAC, AVC, audio, video } from '../support/media/codecs.ts'
import { readMp4 } from '../support/media/read-mp4.ts'

const folder = mkdtempSync(join(tmpdir(), 'strand-thumbnails-'))
afterAll(() => rmSync(folder, { recursive: true }))
const open = new Set<Thumbnails>()
afterEach(async () => {
  for (const each of open) await each.close()
  open.clear()
})

let programs = 0
/** A script in the place of ffmpeg. */
function program(script: string): string {
  programs += 1
  const file = join(folder, `ffmpeg-${programs}`)
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return file
}
const SMALL = String.raw`printf '\377\330small'`
const MEDIUM = String.raw`printf '\377\330medium' >&3`
const LARGE = String.raw`printf '\377\330large' >&4`
const working = (before = ':') =>
  program([before, 'while read -r line; do :; done', SMALL, MEDIUM, LARGE].join('\n'))

const lines: string[] = []
const log = createLog({ level: 'debug', readable: false, write: line => lines.push(line) })
function thumbnailsOf(ffmpeg: string, options: Partial<ThumbnailsOptions> = {}): Thumbnails {
  lines.length = 0
  const thumbnails = new Thumbnails({ ffmpeg, log, lookMilliseconds: 20, ...options })
  open.add(thumbnails)
  return thumbnails
}
const channel = (user_id: string, more: Partial<LiveChannel> = {}): LiveChannel => ({
  user_id,
  keyFrame: () => Buffer.from('MP4\n'),
  ...more,
})
const text = (thumbnails: Thumbnails, user_id: string, width: number, height: number) =>
  thumbnails.find(user_id, { width, height })?.subarray(2).toString()
const counts = (thumbnails: Thumbnails) => {
  const metrics = new Metrics()
  thumbnails.measure(metrics)
  const shown = exposition(metrics.families)
  return ['decoded', 'failed'].map(result => Number(shown.match(`result="${result}"} ([0-9]+)`)?.[1]))
}
const until = async (condition: () => boolean) => {
  while (!condition()) await Bun.sleep(5)
}

describe('the key frame of a broadcast', () => {
  test('is a file with the latest configuration and key frame of the video, and nothing else', async () => {
    const packager = new Packager({ memory: new MediaMemory(1e9), onTooLarge: () => undefined })
    const publish = (message: MediaMessage) => {
      const packet = readPacket(message)
      if (packet !== undefined) packager.publish(packet)
    }
    expect(packager.keyFrame()).toBeUndefined()
    publish(audio(0, AAC.header))
    publish(video(0, AVC.header))
    publish(video(0, AVC.frame()))
    expect(packager.keyFrame()).toBeUndefined()
    publish(video(40, AVC.keyFrame(10)))
    publish(video(80, AVC.frame()))
    publish(video(120, AVC.keyFrame(20)))
    publish(audio(120, AAC.frame()))
    publish(video(160, AVC.frame()))
    const [track, ...others] = await readMp4(packager.keyFrame() ?? Buffer.alloc(0))
    expect(others).toEqual([])
    expect(track).toMatchObject({ kind: 'video', width: 64, height: 48 })
    expect(track?.samples.map(({ data }) => data.length)).toEqual([24])
    packager.end()
    expect(packager.keyFrame()).toBeUndefined()
  })
})

describe('thumbnails', () => {
  test('are there in three sizes: the smallest that is large enough, or the largest', async () => {
    const thumbnails = thumbnailsOf(working())
    thumbnails.start(channel('1'))
    expect(thumbnails.has('1')).toBe(true)
    await until(() => thumbnails.find('1', { width: 1, height: 1 }) !== undefined)
    expect(text(thumbnails, '1', 320, 180)).toBe('small')
    expect(text(thumbnails, '1', 320, 181)).toBe('medium')
    expect(text(thumbnails, '1', 440, 248)).toBe('medium')
    expect(text(thumbnails, '1', 641, 1)).toBe('large')
    expect(text(thumbnails, '1', 2048, 2048)).toBe('large')
    expect(text(thumbnails, '2', 320, 180)).toBeUndefined()
    expect(counts(thumbnails)).toEqual([1, 0])
  })

  test('are decoded again after the period, and one is kept with the recording', async () => {
    const kept: string[] = []
    const keep = async (jpeg: Uint8Array) => void kept.push(Buffer.from(jpeg.subarray(2)).toString())
    const thumbnails = thumbnailsOf(working(), { periodMilliseconds: 10 })
    thumbnails.start(channel('1', { keep }))
    await until(() => kept.length >= 2)
    expect(kept[0]).toBe('medium')
  })

  test('wait for the first key frame', async () => {
    let isThere = false
    const thumbnails = thumbnailsOf(working())
    thumbnails.start(channel('1', { keyFrame: () => (isThere ? Buffer.from('MP4\n') : undefined) }))
    thumbnails.start(channel('2'))
    await until(() => thumbnails.find('2', { width: 1, height: 1 }) !== undefined)
    expect(counts(thumbnails)).toEqual([1, 0])
    isThere = true
    await until(() => thumbnails.find('1', { width: 1, height: 1 }) !== undefined)
  })

  test('are gone when the broadcast ends, unless another one has replaced it', async () => {
    const thumbnails = thumbnailsOf(working())
    const endFirst = thumbnails.start(channel('1'))
    await until(() => thumbnails.find('1', { width: 1, height: 1 }) !== undefined)
    const endSecond = thumbnails.start(channel('1'))
    expect(text(thumbnails, '1', 1, 1)).toBeUndefined()
    endFirst()
    await until(() => thumbnails.find('1', { width: 1, height: 1 }) !== undefined)
    endSecond()
    expect(thumbnails.has('1')).toBe(false)
    expect(text(thumbnails, '1', 1, 1)).toBeUndefined()
  })

  test('of 50 channels are decoded by at most two processes at once', async () => {
    const journal = join(folder, 'journal')
    const thumbnails = thumbnailsOf(
      working(`echo + >> '${journal}'; sleep 0.02; trap 'echo - >> ${journal}' EXIT`),
    )
    for (let n = 0; n < 50; n++) thumbnails.start(channel(String(n)))
    await until(() => counts(thumbnails)[0] === 50)
    let running = 0
    const atOnce = readFileSync(journal, 'utf8')
      .trim()
      .split('\n')
      .map(line => (running += line === '+' ? 1 : -1))
    expect(atOnce).toHaveLength(100)
    expect(Math.max(...atOnce)).toBe(2)
  })

  test('do not exceed the memory for all of them together', async () => {
    const thumbnails = thumbnailsOf(working(), { maxBytes: 30 })
    const end = thumbnails.start(channel('1'))
    await until(() => counts(thumbnails)[0] === 1)
    thumbnails.start(channel('2'))
    await until(() => counts(thumbnails)[1] === 1)
    expect([text(thumbnails, '1', 1, 1), text(thumbnails, '2', 1, 1)]).toEqual(['small', undefined])
    end()
    thumbnails.start(channel('3'))
    await until(() => text(thumbnails, '3', 1, 1) === 'small')
  })

  test('that fail are counted and logged once per broadcast, with a reason of bounded length', async () => {
    const failing = program(
      String.raw`printf '[h264 @ 0x5f3a] bad\tdata ' >&2; head -c 300000 /dev/zero >&2; exit 1`,
    )
    const thumbnails = thumbnailsOf(failing, { periodMilliseconds: 10 })
    thumbnails.start(channel('1'))
    await until(() => (counts(thumbnails)[1] ?? 0) >= 2)
    expect(text(thumbnails, '1', 1, 1)).toBeUndefined()
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      {
        user_id: '1',
        reason: expect.stringMatching(/^\[h264\] bad\?data \?{1,200}$/),
        msg: 'making a thumbnail failed',
      },
    ])
    expect(lines.join('').length).toBeLessThan(500)
  })

  test('that are too large or no pictures fail, and so does a program that cannot be run', async () => {
    const reasonOf = async (ffmpeg: string) => {
      const thumbnails = thumbnailsOf(ffmpeg)
      thumbnails.start(channel('1'))
      await until(() => counts(thumbnails)[1] === 1)
      return JSON.parse(lines[0] ?? '{}').reason
    }
    expect(await reasonOf(program(`${SMALL}; ${MEDIUM}; exec cat /dev/zero >&4`))).toBe('wrote too much')
    expect(await reasonOf(program(`${SMALL}; ${MEDIUM}; echo text >&4`))).toBe('wrote no picture')
    expect(await reasonOf(join(folder, 'missing'))).toBe('cannot be run: ENOENT')
  })

  test('are decoded within 512 MiB of address space and 10 s of processor time', async () => {
    const file = join(folder, 'limits')
    const thumbnails = thumbnailsOf(working(`ulimit -v > '${file}'; ulimit -t >> '${file}'`))
    thumbnails.start(channel('1'))
    await until(() => counts(thumbnails)[0] === 1)
    expect(readFileSync(file, 'utf8')).toBe('524288\n10\n')
  })

  test('are not waited for when the server stops: the process is ended', async () => {
    const file = join(folder, 'pid')
    const thumbnails = thumbnailsOf(program(`echo $$ > '${file}'; exec sleep 600`))
    thumbnails.start(channel('1'))
    await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
    const pid = Number(readFileSync(file, 'utf8'))
    const before = performance.now()
    await thumbnails.close()
    expect(performance.now() - before).toBeLessThan(5000)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(counts(thumbnails)).toEqual([0, 0])
  })

  test('are decoded without our environment, at low priority, and with nothing of the channel in the arguments', async () => {
    const [environment, nice, words] = ['environment', 'nice', 'words'].map(name => join(folder, name))
    process.env.STRAND_TEST_SECRET = 'the-secret-of-the-environment'
    const thumbnails = thumbnailsOf(
      working(`read -r line; env > '${environment}'; nice > '${nice}'; echo "$@" > '${words}'`),
    )
    thumbnails.start(channel('918273'))
    await until(() => counts(thumbnails)[0] === 1)
    delete process.env.STRAND_TEST_SECRET
    expect(readFileSync(environment ?? '', 'utf8')).not.toContain('STRAND')
    expect(Number(readFileSync(nice ?? '', 'utf8'))).toBeGreaterThanOrEqual(10)
    expect(readFileSync(words ?? '', 'utf8').trim()).toBe(ffmpegArguments().join(' '))
    expect(ffmpegArguments().join(' ')).toContain('-protocol_whitelist pipe ')
    expect(ffmpegArguments().join(' ')).toContain(' -f mp4 -i pipe:0 ')
  })
})
