/** What the terminal shows, as pure functions: widths, tables, colours, times, screens. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { placesUnder, visibleAt } from '../../src/cli/help/command-tree.ts'
import { fitHelp } from '../../src/cli/help/fit-help.ts'
import { interruptionMessage } from '../../src/cli/import-interruption.ts'
import { browserCommand } from '../../src/cli/inspect/open.ts'
import { labelIn, metricIn, sumIn } from '../../src/cli/inspect/server-metrics.ts'
import { showStatus, statusReport } from '../../src/cli/inspect/status-report.ts'
import { profileFile } from '../../src/cli/profiles/profile-file.ts'
import { createProgram } from '../../src/cli/program.ts'
import { paintFor, withColour, withoutColour } from '../../src/cli/terminal/colour.ts'
import { findingText } from '../../src/cli/terminal/finding-text.ts'
import { progressLine } from '../../src/cli/terminal/progress.ts'
import { type Cell, type Column, FittedTable } from '../../src/cli/terminal/table.ts'
import { longTime, shortTime } from '../../src/cli/terminal/time.ts'
import { frame } from '../../src/cli/terminal/watch.ts'
import { cut, displayWidth, widthOfTerminal, wrap } from '../../src/cli/terminal/width.ts'
import { formatCell, objectValue, referencesIn, toColumn } from '../../src/cli/verbs/presentation.ts'
import { presenterFor } from '../../src/cli/verbs/show.ts'
import { verbs } from '../../src/cli/verbs/table.ts'
import type { Client } from '../../src/client/index.ts'
import { clockTime } from '../../src/kit/time/clock-time.ts'
import { helpOf } from '../support/cli/command-tree.ts'

const plain = (...forms: string[]): Cell => forms.map(text => [{ text }]) as unknown as Cell
const textIn = (form: readonly { readonly text: string }[]) => form.map(({ text }) => text).join('')

describe('widths', () => {
  test('a text is cut by columns, not by characters, and never inside one', () => {
    expect(cut('First light', 20)).toBe('First light')
    expect(cut('First light over the reef', 12)).toBe('First light…')
    expect(cut('你好世界', 6)).toBe('你好…')
    expect(cut('👩‍👩‍👧 family', 4)).toBe('👩‍👩‍👧…')
  })

  test('whatever the text, it fits afterwards', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, width) => {
        expect(displayWidth(cut(text, width))).toBeLessThanOrEqual(width)
      }),
    )
  })

  test('a text is wrapped at spaces; a long word stays whole', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrap('see http://localhost:8080/console now', 10)).toEqual([
      'see',
      'http://localhost:8080/console',
      'now',
    ])
  })

  test('a terminal without a size has 80 columns, and anything else has no width', () => {
    expect([
      widthOfTerminal({ isTTY: true, columns: 130 }),
      widthOfTerminal({ isTTY: true, columns: 0 }),
      widthOfTerminal({ columns: 130 }),
    ]).toEqual([130, 80, undefined])
  })
})

describe('tables', () => {
  const columns: Column[] = [
    { heading: 'CHANNEL' },
    { heading: 'VIEWERS', align: 'right' },
    { heading: 'STARTED', omitRank: 1 },
    { heading: 'TITLE', cutTo: 8 },
  ]
  const rows = [
    [
      plain('dusty_koala 160180173', 'dusty_koala'),
      plain('14,759'),
      plain('2026-11-16 01:05:56', 'Nov 16 01:05'),
      plain('Chill building'),
    ],
    [plain('witty_yak 160287509', 'witty_yak'), plain('7'), plain('-'), plain('One more try')],
  ]
  const at = (width: number) => new FittedTable(columns, width).page(rows).trimEnd().split('\n')

  test('numbers are aligned to the right, and nothing is shortened that fits', () => {
    expect(at(80)).toEqual([
      'CHANNEL                VIEWERS  STARTED              TITLE',
      'dusty_koala 160180173   14,759  2026-11-16 01:05:56  Chill building',
      'witty_yak 160287509          7  -                    One more try',
    ])
  })

  test('the form that saves most is shortened first', () => {
    expect(at(60)[1]).toBe('dusty_koala   14,759  2026-11-16 01:05:56  Chill building')
    expect(at(55)[1]).toBe('dusty_koala   14,759  Nov 16 01:05  Chill building')
  })

  test('then texts are cut, and last a column is omitted', () => {
    expect(at(46)[1]).toBe('dusty_koala   14,759  Nov 16 01:05  Chill bui…')
    expect(at(36)).toEqual([
      'CHANNEL      VIEWERS  TITLE',
      'dusty_koala   14,759  Chill building',
      'witty_yak          7  One more try',
    ])
  })

  test('later pages keep the columns of the first and no heading', () => {
    const table = new FittedTable(columns, 46)
    table.page(rows)
    const later = [plain('x'), plain('1'), plain('-'), plain('A title that is much longer')]
    expect(table.page([later])).toBe('x                  1  -             A title t…\n')
    expect(table.page([])).toBe('')
  })

  test('whatever the cells, a table of texts that may be cut fits', () => {
    const cells = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(
        fc.array(cells, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 20, max: 140 }),
        (texts, width) => {
          const wide = ['A', 'B', 'C'].map(heading => ({ heading, cutTo: 4 }))
          const shown = new FittedTable(wide, width).page(
            texts.map(row => row.map(text => plain(text.replaceAll('\n', ' ')))),
          )
          for (const line of shown.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(width)
        },
      ),
    )
  })

  test('colour changes no width', () => {
    const coloured = new FittedTable(columns, 46, withColour).page(rows)
    expect(coloured).toContain('\x1b[2mCHANNEL\x1b[0m')
    expect(Bun.stripANSI(coloured).trimEnd().split('\n')).toEqual(at(46))
  })
})

describe('colour', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
  ])('terminal %p, environment %p: %p', (isTTY, environment, expected) => {
    expect(paintFor({ isTTY }, environment) === withColour).toBe(expected)
  })
})

describe('times', () => {
  const noon = '2026-03-01T12:00:00.250Z'
  test('UTC is marked, and local time is that of the machine', () => {
    expect(longTime(noon, { utc: true })).toBe('2026-03-01 12:00:00Z')
    const local = new Date(noon)
    const hour = String(local.getHours()).padStart(2, '0')
    expect(longTime(noon, { utc: false })).toMatch(new RegExp(`^2026-0[23]-\\d\\d ${hour}:\\d\\d:00$`))
  })
  test('short times have a year only where they need one', () => {
    expect(shortTime(noon, { utc: true }, Date.parse('2026-03-02T00:00:00Z'))).toBe('Mar  1 12:00Z')
    expect(shortTime(noon, { utc: true }, Date.parse('2027-03-02T00:00:00Z'))).toBe('Mar  1  2026')
    expect(longTime('never', { utc: true })).toBe('never')
  })
  test('lengths of videos', () => {
    expect([5, 245, 3723].map(clockTime)).toEqual(['0:05', '4:05', '1:02:03'])
  })
})

describe('progress', () => {
  const state = { what: 'Importing', done: 1_234_567, unit: 'lines', total: 9_999_999, seconds: 61 }
  test('everything at 130 columns, less at 80 and 40', () => {
    expect(progressLine(state, 129)).toBe(
      'Importing  [###.....................]  12 %  1,234,567 of 9,999,999 lines  20,239 lines/s  7 min 14 s left',
    )
    expect(progressLine(state, 79)).toBe(
      'Importing  [##...........]  12 %  1,234,567 of 9,999,999 lines  7 min 14 s left',
    )
    expect(progressLine(state, 39)).toBe('Importing  [##..................]  12 %')
  })
  test('whatever the width and the amount, the line fits', () => {
    const amounts = fc.record({
      done: fc.nat(),
      total: fc.option(fc.nat(), { nil: undefined }),
      seconds: fc.nat(),
    })
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 200 }), (amount, width) => {
        const line = progressLine({ what: 'Copying the store', unit: 'lines', ...amount }, width)
        expect(displayWidth(line)).toBeLessThanOrEqual(width)
      }),
    )
  })
})

describe('fields of responses', () => {
  const around = {
    utc: true,
    now: Date.parse('2026-03-01T12:00:00Z'),
    nameOf: ({ table, id }: { table: string; id: string }) =>
      new Map([
        ['users/7', 'lunar_otter'],
        ['games/9', 'Tidefall'],
      ]).get(`${table}/${id}`),
  }
  const texts = (name: string, row: Record<string, unknown>) => formatCell(name, row, around).map(textIn)

  test('ids come with the name of what they stand for', () => {
    const row = { user_id: '7', game_id: '9', benefit_id: 'gone', subject: 'user/7', organization_id: null }
    expect(texts('user_id', row)).toEqual(['lunar_otter 7', 'lunar_otter'])
    expect(texts('game_id', row)).toEqual(['Tidefall 9', 'Tidefall'])
    expect(texts('benefit_id', row)).toEqual(['gone'])
    expect(texts('subject', row)).toEqual(['user/7 lunar_otter', 'user/7'])
    expect(texts('organization_id', row)).toEqual(['-'])
    expect(textIn(objectValue('user_id', row, around))).toBe('7 lunar_otter')
    expect(referencesIn(row, Object.keys(row))).toEqual([
      { table: 'users', id: '7' },
      { table: 'games', id: '9' },
      { table: 'benefits', id: 'gone' },
      { table: 'users', id: '7' },
    ])
  })

  test('numbers are grouped and right-aligned, states have a colour', () => {
    expect([texts('viewer_count', { viewer_count: 14759 }), toColumn('viewer_count').align]).toEqual([
      ['14,759'],
      'right',
    ])
    expect(formatCell('fulfillment_status', { fulfillment_status: 'FULFILLED' }, around)).toEqual([
      [{ text: 'FULFILLED', style: 'green' }],
    ])
  })

  test('a text of a user cannot move the cursor', () => {
    expect(texts('title', { title: 'a\x1b[2Jb' })).toEqual(['a\\u{1b}[2Jb'])
  })
})

describe('every list, with the example of the contract', () => {
  const lists = verbs.filter(({ operation }) => operation.page !== undefined)
  const named = async () => ({
    data: [{ login: 'a_login_of_25_characters_', name: 'A name of forty characters, more or less' }],
  })
  const client = { control: new Proxy({}, { get: () => named }) } as unknown as Client

  for (const columns of [80, 130]) {
    test.each(lists.map(verb => [verb.words, verb] as const))(
      `strand %s fits ${columns} columns`,
      async (_, verb) => {
        const { data } = verb.operation.example.answer as unknown as { data: Record<string, unknown>[] }
        expect(data.length).toBeGreaterThan(0)
        const long = data.map(row => ({
          ...row,
          ...('title' in row && { title: 'T'.repeat(140) }),
          ...('name' in row && { name: 'N'.repeat(100) }),
          ...('status' in row && { status: 'webhook_callback_verification_pending' }),
        }))
        for (const rows of [data, long]) {
          const presenter = presenterFor(verb, { client, utc: true, out: { isTTY: true, columns } })
          const text = await presenter.page(rows)
          expect(text.split('\n').filter(line => displayWidth(line) > columns)).toEqual([])
          expect(text.split('\n')).toHaveLength(rows.length + 2)
        }
      },
    )
  }
})

describe('screens', () => {
  test('a repaint fills the screen and no more, and clears what was there', () => {
    const painted = frame('strand stream list', 'a\nb\nc\nd\n', { width: 12, height: 5 })
    expect(painted).toBe('\x1b[Hstrand stre…\x1b[K\r\n\x1b[K\r\na\x1b[K\r\nb\x1b[K\r\n… 2 more\x1b[K\x1b[J')
  })

  const metrics = [
    'strand_build_info{version="0.1.0",runtime="bun",store="sqlite"} 1',
    'process_start_time_seconds 1772366400',
    'strand_store_file_bytes{file="main"} 1000000',
    'strand_store_file_bytes{file="log"} 500000',
    'strand_directory_streams{worker="1"} 200',
    'strand_directory_streams{worker="2"} 200',
    'strand_directory_viewers 120805',
    'strand_feed_stale_seconds 0.2',
    'strand_store_writable 1',
    '',
  ].join('\n')
  const listeners = [{ name: 'public', url: 'http://localhost:8080', answers: true }]
  const look = { width: 80, paint: withoutColour, utc: true, now: Date.parse('2026-03-01T12:05:00Z') }

  test('metrics are read by name and label', () => {
    expect(metricIn(metrics, 'strand_directory_streams')).toBe(200)
    expect(sumIn(metrics, 'strand_store_file_bytes')).toBe(1_500_000)
    expect(labelIn(metrics, 'strand_build_info', 'store')).toBe('sqlite')
    expect(metricIn(metrics, 'strand_directory')).toBeUndefined()
  })

  test('the status is one screen', () => {
    const server = 'http://localhost:8080'
    const report = statusReport({ server, state: 'ready', metrics, listeners, findings: [] })
    expect(showStatus(report, look).split('\n')).toEqual([
      'Strand 0.1.0 at http://localhost:8080: ready',
      '',
      'Live       200 streams, 120,805 viewers',
      'Store      embedded (SQLite), 1.5 MB, read 0.2 s ago',
      'Started    2026-03-01 12:00:00Z, 5 min 00 s ago',
      'Webhooks   0 waiting',
      'Listeners  public  http://localhost:8080  answers',
      'Problems   none',
      '',
    ])
  })

  test('problems of the metrics, the listeners and the doctor are listed, and fit', () => {
    const report = statusReport({
      server: 'http://localhost:8080',
      state: 'not ready',
      metrics: `${metrics}strand_webhook_lag_seconds 900\n`
        .replace('writable 1', 'writable 0')
        .replace('stale_seconds 0.2', 'stale_seconds 75'),
      listeners: [{ name: 'public', url: 'http://localhost:8080', answers: false }],
      findings: [
        { about: 'clock', level: 'warning', message: 'is wrong', advice: 'set it' },
        { about: 'store', level: 'ok', message: 'is fine' },
      ],
    })
    expect(report.problems).toEqual([
      'the server is not ready: it is starting or stopping, or cannot use its store',
      'the store cannot be written',
      'the server has not read its store for 1 min 15 s',
      'webhooks are late by 15 min 00 s',
      'the public listener at http://localhost:8080 does not answer',
      'clock: is wrong; set it',
    ])
    for (const line of showStatus(report, look).split('\n'))
      expect(displayWidth(line)).toBeLessThanOrEqual(80)
  })

  test('a finding is wrapped below its beginning', () => {
    const finding = { level: 'problem', text: 'one two three', advice: 'four five six' } as const
    expect(findingText(finding, 19, withoutColour)).toBe(
      'problem  one two\n         three\n         -> four\n            five\n            six\n',
    )
    expect(findingText(finding, Number.POSITIVE_INFINITY, withoutColour)).toBe(
      'problem  one two three\n         -> four five six\n',
    )
  })

  test('a help page is filled again; a long example continues behind a backslash', () => {
    const page =
      'Flags come first,\nthen the rest.\n\nSettings:\n  NAME  a meaning of some words\n\nExamples:\n  strand serve --port 80 --data "a folder" --strict < input\n'
    expect(fitHelp(page, 24)).toBe(
      'Flags come first, then\nthe rest.\n\nSettings:\n  NAME  a meaning of\n        some words\n\nExamples:\n  strand serve \\\n    --port 80 \\\n    --data "a folder" \\\n    --strict < input\n',
    )
  })
})

describe('help pages', async () => {
  const places = placesUnder(await createProgram())

  test('all of them fit 80 columns', () => {
    const wide = places.flatMap(({ command, path }) =>
      fitHelp(helpOf(command), 80)
        .split('\n')
        .filter(line => displayWidth(line) > 80)
        .map(line => `strand ${path}: ${line}`),
    )
    expect(places.length).toBeGreaterThan(150)
    expect(wide).toEqual([])
  })

  test('every flag and argument has a meaning that is more than its name', () => {
    const bare = places.flatMap(({ command, path }) =>
      [...visibleAt(command).options, ...command.registeredArguments]
        .map(each => [each.name(), each.description.replace('; repeatable', '')] as const)
        .filter(([name, meaning]) => ['', name, `${name}s`].includes(meaning.replaceAll(' ', '-')))
        .map(([name]) => `strand ${path}: ${name}`),
    )
    expect(bare).toEqual([])
  })

  test('descriptions name flags and commands, not the fields and operations of the API', () => {
    const named = places.flatMap(({ command, path }) => {
      const words = command
        .description()
        .match(/`|\b[a-z]+_id\b|\b(?:Create|Get|List|Put|Rotate|Delete)[A-Z]\w+/)
      return words === null ? [] : [`strand ${path}: ${words[0]}`]
    })
    expect(named).toEqual([])
  })
})

describe('an interrupted import', () => {
  const options = { continues: false, dryRun: false, fromLine: 1 }
  const words = ['import', '--from-line', '1', '--data', 'my data', 'world.ndjson']

  test('names the next line, and the command with the same flags', () => {
    expect(interruptionMessage('world.ndjson', options, { isApplying: true, lastLine: 4000 }, words)).toBe(
      "interrupted: 4,000 lines are imported, up to line 4000\nResume: strand import --from-line 4001 --data 'my data' world.ndjson",
    )
    const remote = { isApplying: true, lastLine: 20, isRemote: true }
    expect(interruptionMessage('-', { ...options, fromLine: 11 }, remote, ['import', '-'])).toBe(
      'interrupted: at least 10 lines are imported, up to line 20\nResume, with the same input: strand import --from-line 21 -',
    )
  })

  test('does not claim that nothing was changed if later lines are imported', () => {
    const reached = { isApplying: true, lastLine: 0, hasChanged: true }
    expect(interruptionMessage('f', options, reached, words)).toBe(
      'interrupted: some lines are imported; importing the file again is safe',
    )
  })

  test('names nothing that was not changed', () => {
    const nothing = 'interrupted: nothing was changed'
    expect(interruptionMessage('f', options, { isApplying: false, lastLine: 0 }, words)).toBe(nothing)
    expect(interruptionMessage('f', options, { isApplying: true, lastLine: 0 }, words)).toBe(nothing)
    const dry = { ...options, dryRun: true }
    expect(interruptionMessage('f', dry, { isApplying: true, lastLine: 9 }, words)).toBe(nothing)
  })
})

test('the browser is that of the environment, of the system, or none', () => {
  expect(browserCommand('linux', {})).toBeUndefined()
  expect(browserCommand('linux', { DISPLAY: ':0' })).toEqual(['xdg-open'])
  expect(browserCommand('darwin', {})).toEqual(['open'])
  expect(browserCommand('linux', { BROWSER: 'firefox' })).toEqual(['firefox'])
})

test('profiles are in the configuration folder of the user', () => {
  expect(profileFile({ XDG_CONFIG_HOME: '/somewhere' })).toBe('/somewhere/strand/profiles.json')
  expect(profileFile({ XDG_CONFIG_HOME: 'relative' })).toEndWith('/.config/strand/profiles.json')
})
