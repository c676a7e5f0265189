/** The clips of the demo, and what becomes of them when they are repeated: by fragment, and in playlists. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { FRAGMENT_SECONDS, FRAGMENTS, LOOP_SECONDS, readClip, repeatClip } from '../../src/demo/clip.ts'
import { completeSegments, livePlaylist, videoPlaylist } from '../../src/demo/clip-playlists.ts'
import { CLIP_NAMES, clipForChannel, loadClip } from '../../src/demo/clips.ts'
import { MOVING_SCENES } from '../../src/images/moving/moving-scenes.ts'
import { isoSeconds } from '../../src/kit/time/clock.ts'
import { boxTypes, readFragments, type TrackFragment } from '../support/media/fragments.ts'

const FOLDER = join(import.meta.dir, '../../src/demo/clips')
/** Everyone who installs the package gets them, and they do not compress. */
const MAX_BYTES = 1_000_000
/** Units per second of the two tracks. */
const TIMESCALES = [90_000, 32_000] as const
/** Five years of segments. */
const numbers = fc.nat(80_000_000)
const clips = fc.constantFrom(...CLIP_NAMES)

const total = ({ durations }: TrackFragment) => durations.reduce((sum, each) => sum + each, 0)

describe('the clips', () => {
  test('there are six, one for each scene that moves, and together they have at most 1 MB', () => {
    const files = readdirSync(FOLDER)
    expect(CLIP_NAMES).toHaveLength(6)
    expect(CLIP_NAMES).toEqual(Object.keys(MOVING_SCENES) as typeof CLIP_NAMES)
    expect(files.sort()).toEqual(CLIP_NAMES.map(name => `${name}.mp4`).sort())
    expect(files.reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0)).toBeLessThanOrEqual(
      MAX_BYTES,
    )
  })

  test('a loop is 180 pictures and 375 AAC frames, which both take 12 s exactly', async () => {
    for (const name of CLIP_NAMES) {
      const { init, fragments } = await loadClip(name)
      expect(boxTypes(init)).toEqual(['ftyp', 'moov'])
      expect(fragments).toHaveLength(FRAGMENTS)
      const [video, sound] = [0, 1].map(track =>
        fragments.flatMap(({ bytes }) => readFragments(bytes)[0]?.tracks[track]?.durations ?? []),
      )
      expect(video).toEqual(Array(180).fill(TIMESCALES[0] / 15))
      expect(sound).toEqual(Array(375).fill(1024))
    }
  })

  test('their codecs are the ones that playlists name', async () => {
    for (const name of CLIP_NAMES) {
      const init = Buffer.from((await loadClip(name)).init)
      const avcC = init.indexOf('avcC')
      expect(init.subarray(avcC + 5, avcC + 8).toString('hex')).toBe('64001f')
      // AAC-LC, 32 kHz, one channel.
      expect(init.includes(Buffer.from('05808080021288', 'hex'))).toBe(true)
    }
  })

  test('every clip is the one of about as many channels', () => {
    const counts = Map.groupBy(
      Array.from({ length: 6000 }, (_, id) => clipForChannel(String(id))),
      name => name,
    )
    for (const name of CLIP_NAMES) expect(counts.get(name)?.length).toBeGreaterThan(800)
  })

  test('a file that is cut is refused', async () => {
    const file = await Bun.file(join(FOLDER, 'harbour.mp4')).bytes()
    expect(() => readClip(file.slice(0, 1238))).toThrow('6 fragments')
  })
})

describe('a clip that is repeated', () => {
  test('continues where the last segment ended, in both tracks, and sound and picture stay together', async () => {
    await fc.assert(
      fc.asyncProperty(clips, numbers, fc.integer({ min: 1, max: 14 }), async (name, from, count) => {
        const clip = await loadClip(name)
        const segments = Array.from({ length: count + 1 }, (_, index) =>
          readFragments(repeatClip(clip, from + index)),
        )
        for (const [index, [fragment, ...others]] of segments.entries()) {
          const number = from + index
          expect(others).toEqual([])
          expect(fragment?.sequence).toBe(number + 1)
          const [video, sound] = fragment?.tracks ?? []
          if (video === undefined || sound === undefined) throw new Error('a track is missing')
          expect(video.decodeTime).toBe(BigInt(number * FRAGMENT_SECONDS * TIMESCALES[0]))
          const apart = Number(video.decodeTime) / TIMESCALES[0] - Number(sound.decodeTime) / TIMESCALES[1]
          expect(Math.abs(apart)).toBeLessThan(1024 / TIMESCALES[1])
          if (number % FRAGMENTS === 0) expect(apart).toBe(0)
          const before = segments[index - 1]?.[0]
          for (const [at, track] of [video, sound].entries()) {
            const earlier = before?.tracks[at]
            if (earlier !== undefined)
              expect(track.decodeTime).toBe(earlier.decodeTime + BigInt(total(earlier)))
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('has the pictures and the sound of the clip, whole and unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(clips, numbers, async (name, number) => {
        const clip = await loadClip(name)
        const [fragment] = readFragments(repeatClip(clip, number))
        const [original] = readFragments(clip.fragments[number % FRAGMENTS]?.bytes ?? new Uint8Array())
        expect(fragment?.payload).toEqual(original?.payload as Uint8Array)
        expect(fragment?.tracks.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(
          fragment?.payload.length as number,
        )
      }),
      { numRuns: 60 },
    )
  })

  test('several fragments at once are the same as one after the other', async () => {
    const clip = await loadClip('journey')
    const single = [5, 6, 7].map(number => repeatClip(clip, number))
    expect(repeatClip(clip, 5, 3)).toEqual(Buffer.concat(single))
  })

  test('the clip itself stays as it is', async () => {
    const clip = await loadClip('summit')
    const before = repeatClip(clip, 0)
    repeatClip(clip, 12_345_678)
    expect(repeatClip(clip, 0)).toEqual(before)
  })
})

const START = Date.parse('2026-03-01T12:00:00Z')
const starts = fc
  .integer({ min: -1_000_000, max: 1_000_000 })
  .map(seconds => isoSeconds(START + seconds * 1000))
const elapsed = fc.oneof(fc.nat(100_000), fc.nat(3 * 365 * 86_400_000))

/** The numbers of the segments in a live playlist with their times. */
function readLive(text: string): { number: number; at: number }[] {
  const entry = /#EXT-X-PROGRAM-DATE-TIME:(\S+)\n#EXTINF:2\.000,\n(\d+)\.m4s\n/g
  return [...text.matchAll(entry)].map(([, at = '', number]) => ({
    number: Number(number),
    at: Date.parse(at),
  }))
}

describe('a live playlist', () => {
  test('has the last six complete segments at every time, also right at the start', () => {
    fc.assert(
      fc.property(starts, elapsed, (started_at, milliseconds) => {
        const now = Date.parse(started_at) + milliseconds
        const text = livePlaylist({ started_at, now, isOver: false })
        const segments = readLive(text)
        expect(segments).toHaveLength(6)
        expect(text).toContain(`#EXT-X-MEDIA-SEQUENCE:${segments[0]?.number}\n`)
        for (const [index, { number, at }] of segments.entries()) {
          expect(number).toBe((segments[0]?.number as number) + index)
          expect(at - Date.parse(started_at)).toBe((number - FRAGMENTS) * FRAGMENT_SECONDS * 1000)
        }
        const end = (segments.at(-1)?.at as number) + FRAGMENT_SECONDS * 1000
        expect(end).toBeLessThanOrEqual(now)
        expect(now - end).toBeLessThan(FRAGMENT_SECONDS * 1000)
        expect(segments.at(-1)?.number).toBe(completeSegments({ started_at, now, isOver: false }) - 1)
      }),
    )
  })

  test('moves with the clock, wherever that is moved, and never renames a segment', () => {
    fc.assert(
      fc.property(starts, elapsed, elapsed, (started_at, one, other) => {
        const start = Date.parse(started_at)
        const [earlier, later] = [one, other].sort((a, b) => a - b) as [number, number]
        const [before, after] = [earlier, later].map(each =>
          readLive(livePlaylist({ started_at, now: start + each, isOver: false })),
        )
        const steps = Math.floor(later / 2000) - Math.floor(earlier / 2000)
        expect((after?.[0]?.number as number) - (before?.[0]?.number as number)).toBe(steps)
        const known = new Map(before?.map(({ number, at }) => [number, at]))
        for (const { number, at } of after ?? []) expect(known.get(number) ?? at).toBe(at)
      }),
    )
  })

  test('of a broadcast that starts in the future is that of its start', () => {
    const started_at = isoSeconds(START)
    const at = (now: number) => livePlaylist({ started_at, now, isOver: false })
    expect(at(START - 3_600_000)).toBe(at(START))
  })
})

const readVideo = (text: string) =>
  [...text.matchAll(/#EXTINF:([0-9.]+),\n(\S+)\n/g)].map(([, seconds, uri]) => ({
    seconds: Number(seconds),
    uri,
  }))
const video = (seconds: number, isLive: boolean) =>
  videoPlaylist({ created_at: isoSeconds(START), seconds, isLive, folder: '7/0a0b0c0d' })
const lengths = fc.oneof(fc.nat(100), fc.nat(50 * 3600))

describe('the playlist of a video', () => {
  test('is as long as the video, in entries of 12 s, and closed', () => {
    fc.assert(
      fc.property(lengths, seconds => {
        const text = video(seconds, false)
        const entries = readVideo(text)
        const sum = entries.reduce((all, entry) => all + entry.seconds, 0)
        expect(sum).toBeGreaterThanOrEqual(seconds)
        expect(sum).toBeLessThan(Math.max(1, seconds) + FRAGMENT_SECONDS)
        expect(entries.slice(0, -1).every(entry => entry.seconds === LOOP_SECONDS)).toBe(true)
        expect(new Set(entries.map(({ uri }) => uri)).size).toBe(entries.length)
        expect(text).toContain('#EXT-X-PLAYLIST-TYPE:VOD\n')
        expect(text.endsWith('#EXT-X-ENDLIST\n')).toBe(true)
      }),
    )
  })

  test('grows while the broadcast runs, without a change to what it had', () => {
    fc.assert(
      fc.property(lengths, lengths, (one, other) => {
        const [shorter, longer] = [Math.min(one, other), Math.max(one, other)]
        const [before, after] = [video(shorter, true), video(longer, true)]
        expect(after.startsWith(before)).toBe(true)
        expect(after).toContain('#EXT-X-PLAYLIST-TYPE:EVENT\n')
        expect(after).not.toContain('ENDLIST')
        const sum = readVideo(after).reduce((all, { seconds }) => all + seconds, 0)
        expect(sum).toBeGreaterThanOrEqual(longer)
        expect(sum - longer).toBeLessThanOrEqual(LOOP_SECONDS)
      }),
    )
  })

  test('of four hours has 1,200 entries', () => {
    expect(readVideo(video(4 * 3600, false))).toHaveLength(1200)
  })
})
