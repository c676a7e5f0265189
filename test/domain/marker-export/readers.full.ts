/** Exported files as the programs of others read them: FFmpeg and libxml2. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { toChapters } from '../../../src/domain/marker-export/chapters.ts'
import { writeMarkers } from '../../../src/domain/marker-export/formats.ts'
import type { MarkerExport } from '../../../src/domain/marker-export/marked-video.ts'
import { oneLine, videoName } from '../../../src/domain/marker-export/text.ts'
import { anyExport, exportOf } from './exports.ts'

const ffmpeg = process.env.TEST_FFMPEG || undefined
const ffprobe = process.env.TEST_FFPROBE || undefined
const xmllint = process.env.TEST_XMLLINT || undefined

const folder = mkdtempSync(join(tmpdir(), 'strand-markers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fileWith(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** Runs a program that must have nothing to object to. */
function run(words: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words])
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
  return stdout.toString()
}

const probe = (file: string, ...words: string[]) =>
  JSON.parse(run([ffprobe ?? 'ffprobe', '-v', 'warning', '-of', 'json', ...words, file]))

interface ProbedChapter {
  readonly start_time: string
  readonly end_time: string
  readonly tags?: { readonly title?: string }
}

/** Without the space that follows a backslash at the end. */
const textOf = (tag: string | undefined) => tag?.replace(/\\ $/, '\\') ?? ''

const chaptersIn = (chapters: readonly ProbedChapter[]) =>
  chapters.map(({ start_time, end_time, tags }) => ({
    start: Number(start_time),
    end: Number(end_time),
    name: textOf(tags?.title),
  }))
const probedChapters = (file: string) => chaptersIn(probe(file, '-show_chapters').chapters)

const holds = (property: (given: MarkerExport) => void) =>
  fc.assert(fc.property(anyExport, property), { numRuns: 60 })

describe.skipIf(ffprobe === undefined || ffmpeg === undefined)('FFmpeg', () => {
  test('reads the chapters of FFmetadata, whatever their names contain', () => {
    holds(given => {
      const file = fileWith('chapters.ffmetadata', writeMarkers('ffmetadata', given))
      const { chapters, format } = probe(file, '-show_chapters', '-show_format')
      expect(chaptersIn(chapters)).toEqual(toChapters(given))
      const { title, artist } = format.tags
      expect([textOf(title), textOf(artist)]).toEqual([
        videoName(given.video),
        oneLine(given.video.user_name),
      ])
    })
  }, 120_000)

  test('puts them into a video, as docs/markers.md has it', () => {
    const given = exportOf(
      [
        [1, 'a=b; #c \\d'],
        [2, 'Ünï'],
      ],
      { duration_seconds: 4 },
    )
    const metadata = fileWith('chapters.ffmetadata', writeMarkers('ffmetadata', given))
    const [plain, marked] = [join(folder, 'plain.mkv'), join(folder, 'marked.mkv')]
    const quiet = [ffmpeg ?? 'ffmpeg', '-v', 'error', '-y']
    run([...quiet, '-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=10:duration=4', plain])
    run([
      ...quiet,
      ...['-i', plain, '-i', metadata, '-map_metadata', '1', '-map_chapters', '1', '-codec', 'copy', marked],
    ])
    expect(probedChapters(marked)).toEqual(toChapters(given))
  })

  test('reads the cues of WebVTT, whatever their names contain', () => {
    holds(given => {
      const file = fileWith('chapters.vtt', writeMarkers('vtt', given))
      const packets = probe(file, '-show_packets').packets as { pts_time: string; duration_time: string }[]
      const chapters = toChapters(given)
      expect(packets.map(({ pts_time }) => Number(pts_time))).toEqual(chapters.map(({ start }) => start))
      expect(packets.map(each => Number(each.duration_time))).toEqual(
        chapters.map(({ start, end }) => end - start),
      )
    })
  }, 120_000)

  test('and their text', () => {
    const names = ['a --> b', '<i>x</i> & &amp;', 'Ünï 日本語 "q"', 'NOTE nothing']
    const given = exportOf(names.map((name, index) => [index * 10, name] as const))
    const file = fileWith('names.vtt', writeMarkers('vtt', given))
    const cues = run([ffmpeg ?? 'ffmpeg', '-v', 'warning', '-i', file, '-f', 'srt', '-'])
      .trim()
      .split(/\r?\n\r?\n/)
    expect(cues.map(cue => cue.split(/\r?\n/).slice(2).join('\n'))).toEqual(names)
  })

  test('an empty file has no chapters and no cues', () => {
    const none = exportOf([])
    expect(probedChapters(fileWith('none.ffmetadata', writeMarkers('ffmetadata', none)))).toEqual([])
    expect(probe(fileWith('none.vtt', writeMarkers('vtt', none)), '-show_packets').packets).toEqual([])
  })
})

describe.skipIf(xmllint === undefined)('libxml2', () => {
  test('reads FCPXML, whatever the names contain', () => {
    holds(given => {
      const file = fileWith('markers.fcpxml', writeMarkers('fcpxml', given))
      expect(run([xmllint ?? 'xmllint', '--noout', file])).toBe('')
      const count = run([xmllint ?? 'xmllint', '--xpath', 'count(//gap/marker)', file])
      expect(Number(count)).toBe(given.markers.length)
    })
  }, 120_000)
})
