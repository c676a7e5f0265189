/** Every format, read back by a strict reader: positions to the frame, names to the letter. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { frameRates } from '../../../src/contract/resources/marker-file.ts'
import { toChapters } from '../../../src/domain/marker-export/chapters.ts'
import { writeMarkers } from '../../../src/domain/marker-export/formats.ts'
import {
  FRAME_RATES,
  frameAt,
  framesPerHour,
  timecode,
} from '../../../src/domain/marker-export/frame-rate.ts'
import { type MarkerExport, timelineSeconds } from '../../../src/domain/marker-export/marked-video.ts'
import { markerName, videoName } from '../../../src/domain/marker-export/text.ts'
import { runs } from '../../support/properties.ts'
import { anyExport, exportOf } from './exports.ts'
import { checkOtio, type Element, frameOfTimecode, readCsv, readEdl, readWebvtt, readXml } from './readers.ts'

const holds = (property: (given: MarkerExport) => void) =>
  fc.assert(fc.property(anyExport, property), { numRuns: runs(300) })
const frames = ({ markers, fps }: MarkerExport) =>
  markers.map(({ position_seconds }) => frameAt(position_seconds, FRAME_RATES[fps]))
const names = ({ markers }: MarkerExport) => markers.map(markerName)

describe('timecode', () => {
  test('skips the first numbers of a minute, unless it is a multiple of ten', () => {
    const at = (frame: number, fps: keyof typeof FRAME_RATES) => timecode(frame, FRAME_RATES[fps])
    expect([0, 1799, 1800, 17_981, 17_982, 107_892].map(frame => at(frame, '29.97'))).toEqual([
      ...['00:00:00;00', '00:00:59;29', '00:01:00;02', '00:09:59;29', '00:10:00;00', '01:00:00;00'],
    ])
    expect([3599, 3600, 35_964, 215_784].map(frame => at(frame, '59.94'))).toEqual([
      ...['00:00:59;59', '00:01:00;04', '00:10:00;00', '01:00:00;00'],
    ])
    expect([at(86_400, '24'), at(86_314, '23.976'), at(59, '60')]).toEqual([
      ...['01:00:00:00', '00:59:56:10', '00:00:00:59'],
    ])
  })

  test('property: has one number for every frame, at every rate', () => {
    const anyFrame = fc.oneof(fc.nat(200_000), fc.nat(2 ** 31 - 1))
    fc.assert(
      fc.property(anyFrame, fc.constantFrom(...frameRates), (frame, fps) => {
        const { nominal, dropped } = FRAME_RATES[fps]
        expect(frameOfTimecode(timecode(frame, FRAME_RATES[fps]), nominal, dropped)).toBe(frame)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('a position is at most half a frame from its frame, after 68 years too', () => {
    for (const fps of frameRates) {
      const { numerator, denominator } = FRAME_RATES[fps]
      for (const seconds of [0, 1, 59, 3600, 86_399, 2 ** 31 - 1]) {
        const away =
          BigInt(frameAt(seconds, FRAME_RATES[fps])) * BigInt(denominator) -
          BigInt(seconds) * BigInt(numerator)
        expect([fps, seconds, Number(away < 0n ? -away : away) * 2 <= denominator]).toEqual([
          fps,
          seconds,
          true,
        ])
      }
    }
  })
})

describe('csv', () => {
  test('property: gives back positions, timecode and descriptions; nothing is a formula', () => {
    holds(given => {
      const [header, ...rows] = readCsv(writeMarkers('csv', given))
      expect(header).toEqual(['id', 'position_seconds', 'timecode', 'created_at', 'description', 'url'])
      expect(rows).toHaveLength(given.markers.length)
      const { nominal, dropped } = FRAME_RATES[given.fps]
      for (const [index, [id, seconds, code = '', created_at, description = '', url]] of rows.entries()) {
        const marker = given.markers[index]
        expect([id, seconds, created_at]).toEqual([
          marker?.id,
          String(marker?.position_seconds),
          marker?.created_at,
        ])
        expect(frameOfTimecode(code, nominal, dropped)).toBe(frames(given)[index] ?? -1)
        expect(description).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
        const printable = marker?.description.replace(/(?![\t\r\n])\p{Cc}/gu, '') ?? ''
        // Nothing is added but apostrophes: one in front, and those in front of what begins a formula.
        const unmarked = (text: string) => text.replace(/'+(?=[=+\-@＝＋－＠])/g, '')
        expect([unmarked(printable), unmarked(`'${printable}`)]).toContain(unmarked(description))
        expect(url).toStartWith(`${given.video.url}?t=`)
      }
    })
  })

  test('property: has no formula for a program that separates cells by another character and knows no quotes', () => {
    holds(given => {
      for (const separator of [';', '|', '\t', /[\r\n]+/])
        for (const cell of writeMarkers('csv', given).split(separator))
          expect(cell).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/)
    })
    const [, [, , , , description] = []] = readCsv(writeMarkers('csv', exportOf([[1, 'a;=1+1 | "-2']])))
    expect(description).toBe(`a;'=1+1 | "'-2`)
  })

  test('quotes quotes, commas and line breaks, and marks formulas as text', () => {
    const text = writeMarkers(
      'csv',
      exportOf([
        [244, 'a "b", c\nd'],
        [3723, '=HYPERLINK("x")'],
      ]),
    )
    expect(text).toBe(
      [
        'id,position_seconds,timecode,created_at,description,url',
        `${'0'.repeat(32)},244,00:04:04:00,2026-03-01T12:04:04Z,"a ""b"", c\nd",http://localhost:8080/videos/1234567890?t=0h4m4s`,
        `${'1'.padStart(32, '0')},3723,01:02:03:00,2026-03-01T12:04:04Z,"'=HYPERLINK(""x"")",http://localhost:8080/videos/1234567890?t=1h2m3s`,
        '',
      ].join('\r\n'),
    )
  })
})

describe('edl', () => {
  test('property: is CMX 3600 with an event of one frame for each marker, from one hour on', () => {
    holds(given => {
      const rate = FRAME_RATES[given.fps]
      const { events, isDropFrame, comments } = readEdl(writeMarkers('edl', given))
      expect(isDropFrame).toBe(given.fps === '29.97' || given.fps === '59.94')
      const hour = framesPerHour(rate)
      const fitting = frames(given).filter(frame => hour + frame + 1 < 24 * hour)
      expect(events.map(({ number }) => number)).toEqual(fitting.map((_, index) => index + 1))
      const frameOf = (text: string) => frameOfTimecode(text, rate.nominal, rate.dropped)
      expect(events.map(event => frameOf(event.timecode) - hour)).toEqual(fitting)
      expect(events.map(event => frameOf(event.out) - hour)).toEqual(fitting.map(frame => frame + 1))
      const beyond = given.markers.length - fitting.length
      expect(comments).toEqual(beyond === 0 ? [] : [`* LEFT OUT: ${beyond} AFTER THE LAST HOUR OF TIMECODE`])
    })
  })

  test('names are ASCII on lines of 80 characters; what cannot be read is numbered', () => {
    const long = 'a long description '.repeat(7)
    const { events, title } = readEdl(
      writeMarkers(
        'edl',
        exportOf(
          [
            [1, 'Crème | brûlée…'],
            [2, '日本語'],
            [3, long],
            [4, ''],
          ],
          { title: 'Été\nune fois' },
        ),
      ),
    )
    expect(title).toBe('Ete une fois')
    expect(events.map(({ name, colour }) => [name, colour])).toEqual([
      ['Creme / brulee...', 'Blue'],
      ['Marker 2', 'Blue'],
      [`${long.slice(0, 48)}...`, 'Blue'],
      ['Marker 4', 'Blue'],
    ])
  })

  test('as DaVinci Resolve reads it', () => {
    expect(writeMarkers('edl', exportOf([[244, 'the jump']], { fps: '29.97' }))).toBe(
      [
        'TITLE: First light over the reef',
        'FCM: DROP FRAME',
        '',
        '001  001      V     C        01:04:04;01 01:04:04;02 01:04:04;01 01:04:04;02',
        ' |C:ResolveColorBlue |M:the jump |D:1',
        '',
        '',
      ].join('\r\n'),
    )
  })

  test('from 1000 on, numbers have four digits', () => {
    const many = exportOf(Array.from({ length: 1001 }, (_, index) => [index, 'x'] as const))
    expect(
      readEdl(writeMarkers('edl', many))
        .events.map(({ number }) => number)
        .slice(-3),
    ).toEqual([999, 1000, 1001])
  })
})

describe('fcpxml', () => {
  const found = (root: Element, name: string): Element[] => [
    ...(root.name === name ? [root] : []),
    ...root.children.flatMap(child => found(child, name)),
  ]
  /** A time as frames; a time between two frames throws. */
  const frameOf = (
    time: string | undefined,
    { numerator, denominator }: { numerator: number; denominator: number },
  ) => {
    const [, top = '', bottom = '1'] = /^(\d+)(?:\/(\d+))?s$/.exec(time ?? '') ?? []
    const scaled = BigInt(top) * BigInt(numerator)
    const unit = BigInt(bottom) * BigInt(denominator)
    if (scaled % unit !== 0n) throw new Error(`${time} is between two frames`)
    return Number(scaled / unit)
  }

  test('property: is well formed, and its times are whole frames', () => {
    holds(given => {
      const rate = FRAME_RATES[given.fps]
      const root = readXml(writeMarkers('fcpxml', given))
      expect([root.name, root.attributes.version]).toEqual(['fcpxml', '1.9'])
      const [format] = found(root, 'format')
      expect(frameOf(format?.attributes.frameDuration, rate)).toBe(1)
      const [sequence] = found(root, 'sequence')
      expect(sequence?.attributes).toMatchObject({
        format: format?.attributes.id ?? '',
        tcFormat: rate.dropped > 0 ? 'DF' : 'NDF',
      })
      const [gap] = found(root, 'gap')
      const duration = frameOf(gap?.attributes.duration, rate)
      expect(duration).toBe(Math.max(1, frameAt(timelineSeconds(given), rate)))
      const markers = gap?.children ?? []
      expect(markers.map(({ attributes }) => frameOf(attributes.start, rate))).toEqual(frames(given))
      for (const { name, attributes } of markers) {
        expect([name, frameOf(attributes.duration, rate)]).toEqual(['marker', 1])
        expect(frameOf(attributes.start, rate)).toBeLessThan(duration)
      }
      expect(markers.map(({ attributes }) => attributes.value)).toEqual(names(given))
      expect(found(root, 'project')[0]?.attributes.name).toBe(videoName(given.video))
    })
  })

  test('the reader refuses what is not well formed', () => {
    const right = writeMarkers('fcpxml', exportOf([[1, 'x']]))
    expect(() => readXml(right)).not.toThrow()
    for (const [part, wrong] of [
      ['value="x"', 'value="x&y"'],
      ['value="x"', 'value="<"'],
      ['value="x"', 'value="\u0001"'],
      ['value="x"', 'value="x" value="y"'],
      ['</gap>', ''],
      ['</fcpxml>', '</fcpxml><more/>'],
    ] as const)
      expect(() => readXml(right.replace(part, wrong))).toThrow()
  })
})

describe('otio', () => {
  test('property: is of the schema, with the markers on the stack and whole frames', () => {
    holds(given => {
      const { numerator, denominator } = FRAME_RATES[given.fps]
      const timeline = JSON.parse(writeMarkers('otio', given))
      checkOtio(timeline)
      expect(timeline.OTIO_SCHEMA).toBe('Timeline.1')
      // biome-ignore lint/suspicious/noExplicitAny: checked just before
      const markers: any[] = timeline.tracks.markers
      expect(markers.map(each => each.marked_range.start_time)).toEqual(
        frames(given).map(value => ({ OTIO_SCHEMA: 'RationalTime.1', rate: numerator / denominator, value })),
      )
      expect(markers.map(each => each.name)).toEqual(names(given))
      expect(markers.map(each => each.comment)).toEqual(given.markers.map(each => each.description))
      expect(timeline.tracks.children[0].children[0].source_range.duration.value).toBe(
        frameAt(timelineSeconds(given), FRAME_RATES[given.fps]),
      )
    })
  })

  test('the check refuses a missing field, an unknown one and a time between two frames', () => {
    const timeline = JSON.parse(writeMarkers('otio', exportOf([[1, 'x']])))
    const { name: _, ...unnamed } = timeline
    expect(() => checkOtio(unnamed)).toThrow()
    expect(() => checkOtio({ ...timeline, more: 1 })).toThrow()
    timeline.tracks.markers[0].marked_range.start_time.value = 0.5
    expect(() => checkOtio(timeline)).toThrow()
  })
})

describe('chapters', () => {
  test('each lasts until the next, the last until the end; those at one position are one', () => {
    const given = exportOf([
      [5, 'one'],
      [5, 'two'],
      [7, ''],
      [7300, 'after the end'],
    ])
    expect(toChapters(given)).toEqual([
      { start: 5, end: 7, name: 'one / two' },
      { start: 7, end: 7300, name: 'Marker 3' },
      { start: 7300, end: 7301, name: 'after the end' },
    ])
  })

  test('property: in WebVTT they are read back, whatever their names contain', () => {
    holds(given => {
      expect(readWebvtt(writeMarkers('vtt', given))).toEqual(
        toChapters(given).map(({ start, end, name }) => ({ start, end, text: name })),
      )
    })
  })

  test('in FFmetadata a name cannot continue on the next line', () => {
    const text = writeMarkers(
      'ffmetadata',
      exportOf(
        [
          [10, 'a\\'],
          [20, 'b'],
        ],
        { title: '\\' },
      ),
    )
    expect(text.split('\n').filter(line => line.endsWith('\\'))).toEqual([])
    expect(text).toContain('title=a\\\\ \n[CHAPTER]\n')
  })

  test('in FFmetadata every special character is escaped', () => {
    const text = writeMarkers('ffmetadata', exportOf([[10, 'a=b; #c \\d\n[CHAPTER]']], { title: '#1' }))
    expect(text).toBe(
      [
        ';FFMETADATA1',
        'title=\\#1',
        'artist=Lunar_Otter',
        'creation_time=2026-03-01T12:00:00Z',
        '[CHAPTER]',
        'TIMEBASE=1/1000',
        'START=10000',
        'END=7200000',
        'title=a\\=b\\; \\#c \\\\d [CHAPTER]',
        '',
      ].join('\n'),
    )
  })
})

describe('youtube', () => {
  const linesOf = (given: MarkerExport) => writeMarkers('youtube', given).split('\n').slice(0, -1)

  test('chapters that meet the rules are listed without a word', () => {
    expect(
      linesOf(
        exportOf([
          [0, 'intro'],
          [244, 'the jump'],
          [3723, 'end'],
        ]),
      ),
    ).toEqual([...['0:00 intro', '4:04 the jump', '1:02:03 end']])
  })

  test('the first begins at the start, and chapters last ten seconds; changes are listed', () => {
    const lines = linesOf(
      exportOf([
        [10, 'a'],
        [19, 'b'],
        [20, 'c'],
        [700, 'd <e> 12:30'],
        [7195, 'f'],
      ]),
    )
    expect(lines).toEqual([
      '0:00 Start',
      '0:10 a',
      '0:20 c',
      '11:40 d ‹e› 12꞉30',
      '',
      '# Remove these lines before you paste the chapters.',
      '# "Start" added: the first chapter has to begin at the start.',
      '# "b" left out: 9 s after the chapter before it, at least 10 s are required.',
      '# "f" left out: 5 s before the end, at least 10 s are required.',
    ])
    expect(
      linesOf(
        exportOf([
          [9, 'a'],
          [20, 'b'],
          [40, 'c'],
        ]),
      )[0],
    ).toBe('0:00 a')
    expect(
      linesOf(
        exportOf([
          [9, 'a'],
          [20, 'b'],
          [40, 'c'],
        ]),
      ).at(-1),
    ).toBe('# "a" moved to the start: the first chapter has to begin there.')
  })

  test('the end of a live video is not known, so nothing is left out for it', () => {
    const given = exportOf(
      [
        [0, 'a'],
        [20, 'b'],
        [40, 'c'],
      ],
      { is_live: true, duration_seconds: 40 },
    )
    expect(linesOf(given)).toEqual(['0:00 a', '0:20 b', '0:40 c'])
  })

  test('too few chapters and too long a list are reported', () => {
    expect(linesOf(exportOf([]))).toEqual([
      '# Remove these lines before you paste the chapters.',
      '# The video has no markers.',
      '# YouTube shows chapters if there are at least 3; there are 0.',
    ])
    expect(linesOf(exportOf([[0, 'a']])).at(-1)).toBe(
      '# YouTube shows chapters if there are at least 3; there are 1.',
    )
    const many = exportOf(Array.from({ length: 60 }, (_, index) => [index * 20, 'x'.repeat(100)] as const))
    expect(linesOf(many).at(-1)).toMatch(
      /^# A description has at most 5000 characters; the chapters have 6\d{3}\.$/,
    )
  })

  test('property: whatever the markers, what YouTube reads meets its rules', () => {
    holds(given => {
      const lines = linesOf(given)
      const stamp = /(?:\p{Nd}+:)?\p{Nd}{1,2}:\p{Nd}\p{Nd}/gu
      const chapters = lines.filter(line => !line.startsWith('#') && line !== '')
      const starts = chapters.map(line => {
        const [, time = ''] = /^((?:\d+:[0-5])?\d:[0-5]\d|[1-5]\d:[0-5]\d) \S/.exec(line) ?? []
        expect([line, [...line.matchAll(stamp)].length]).toEqual([line, 1])
        return time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
      })
      if (given.markers.length > 0) expect(starts[0]).toBe(0)
      for (const [index, start] of starts.entries())
        if (index > 0) expect(start - (starts[index - 1] ?? 0)).toBeGreaterThanOrEqual(10)
      for (const line of lines.filter(each => each.startsWith('#'))) expect(line).not.toMatch(stamp)
      expect(chapters.join('')).not.toMatch(/[<>]/)
      expect(chapters.length >= 3 || lines.at(-1)?.includes('at least 3')).toBe(true)
    })
  })
})

test('property: json has the video and its markers, with frames and timecode', () => {
  holds(given => {
    const { video, fps, markers } = JSON.parse(writeMarkers('json', given))
    expect([video, fps]).toEqual([given.video, given.fps])
    const rate = FRAME_RATES[given.fps]
    expect(markers).toEqual(
      given.markers.map((marker, index) => ({
        ...marker,
        frame: frames(given)[index],
        timecode: timecode(frames(given)[index] ?? 0, rate),
        url: expect.stringMatching(/\?t=\d+h\d+m\d+s$/),
      })),
    )
  })
})
