/** Strict readers of the formats, written from their specifications: what they do not expect, they refuse. */

class NotReadable extends Error {}

function refuse(why: string): never {
  throw new NotReadable(why)
}

/** RFC 4180: lines end with CRLF; a field is quoted if it contains a quote, a comma or a line break. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const quoted = /"((?:[^"]|"")*)"(?=,|\r\n)/y
    const plain = /[^",\r\n]*(?=,|\r\n)/y
    quoted.lastIndex = at
    plain.lastIndex = at
    const found = quoted.exec(text) ?? plain.exec(text) ?? refuse(`no field at ${at}`)
    row.push(found[1] === undefined ? found[0] : found[1].replaceAll('""', '"'))
    at += found[0].length
    if (text[at] === ',') at += 1
    else {
      at += 2
      rows.push(row)
      row = []
    }
  }
  return rows
}

/** The number of a frame, counted from midnight. Refuses the numbers that drop-frame timecode skips. */
export function frameOfTimecode(text: string, nominal: number, dropped: number): number {
  const [, hours, minutes, seconds, separator, frames] =
    /^(\d\d+):([0-5]\d):([0-5]\d)([:;])(\d\d)$/.exec(text) ?? refuse(`no timecode: ${text}`)
  const [h, m, s, f] = [Number(hours), Number(minutes), Number(seconds), Number(frames)]
  if ((separator === ';') !== dropped > 0) refuse(`another kind of timecode: ${text}`)
  if (f >= nominal) refuse(`frame ${f} of ${nominal}: ${text}`)
  if (dropped > 0 && m % 10 !== 0 && s === 0 && f < dropped) refuse(`a number that is skipped: ${text}`)
  const total = h * 60 + m
  return (total * 60 + s) * nominal + f - dropped * (total - Math.floor(total / 10))
}

export interface EdlEvent {
  readonly number: number
  readonly timecode: string
  readonly out: string
  readonly colour: string
  readonly name: string
}

/** CMX 3600 with the marker lines of DaVinci Resolve. */
export function readEdl(text: string): {
  title: string
  isDropFrame: boolean
  events: EdlEvent[]
  comments: string[]
} {
  if (!text.endsWith('\r\n')) refuse('the last line is not terminated')
  const lines = text.slice(0, -2).split('\r\n')
  for (const line of lines)
    if (!/^[\x20-\x7e]{0,80}$/.test(line)) refuse(`not 80 characters of ASCII: ${line}`)
  const [, title] = /^TITLE: (\S.*)$/.exec(lines.shift() ?? '') ?? refuse('no title')
  const [, mode] = /^FCM: (DROP FRAME|NON-DROP FRAME)$/.exec(lines.shift() ?? '') ?? refuse('no FCM')
  const comments = lines.splice(
    0,
    lines.findIndex(line => !line.startsWith('* ')),
  )
  if (lines.shift() !== '') refuse('no empty line below the header')
  const events: EdlEvent[] = []
  while (/^\d/.test(lines[0] ?? '')) {
    const time = '([0-2]\\d:[0-5]\\d:[0-5]\\d[:;]\\d\\d)'
    const event = new RegExp(`^(\\d{3,4})  001      V     C        ${time} ${time} ${time} ${time}$`)
    const [, number, sourceIn, sourceOut, recordIn, recordOut] =
      event.exec(lines.shift() ?? '') ?? refuse('no event')
    if (sourceIn !== recordIn || sourceOut !== recordOut) refuse('source and record differ')
    const [, colour, name] =
      /^ \|C:ResolveColor([A-Z][a-z]+) \|M:([^|]*[^| ]) \|D:1$/.exec(lines.shift() ?? '') ??
      refuse('no marker')
    if (lines.shift() !== '') refuse('no empty line below the event')
    events.push({
      number: Number(number),
      timecode: recordIn ?? '',
      out: recordOut ?? '',
      colour: colour ?? '',
      name: name ?? '',
    })
  }
  if (lines.length > 0) refuse(`no event: ${lines[0]}`)
  return { title: title ?? '', isDropFrame: mode === 'DROP FRAME', events, comments }
}

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Element[]
}

/** The part of XML 1.0 without text between elements. */
export function readXml(text: string): Element {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text))
    refuse('a character that XML forbids')
  const prolog =
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<!DOCTYPE (\w+)>\n/.exec(text) ?? refuse('no prolog')
  const tag = /\s*<(\/?)([A-Za-z]\w*)((?: [A-Za-z]\w*="[^"<]*")*)(\/?)>/y
  tag.lastIndex = prolog[0].length
  const root = { name: '', attributes: {}, children: [] as Element[] }
  const open = [root]
  while (tag.lastIndex < text.trimEnd().length) {
    const at = tag.lastIndex
    const [, closing, name = '', attributes = '', empty] = tag.exec(text) ?? refuse(`no tag at ${at}`)
    if (closing) {
      if (open.pop()?.name !== name || attributes || empty) refuse(`</${name}> closes nothing`)
      continue
    }
    const element = { name, attributes: attributesIn(attributes), children: [] as Element[] }
    open.at(-1)?.children.push(element)
    if (!empty) open.push(element)
  }
  const [only, ...others] = root.children
  if (open.length !== 1 || only === undefined || others.length > 0) refuse('not one complete root')
  if (only.name !== prolog[1]) refuse('another root than the document type')
  return only
}

function attributesIn(text: string): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const [, name = '', value = ''] of text.matchAll(/ (\w+)="([^"]*)"/g)) {
    if (Object.hasOwn(attributes, name)) refuse(`${name} is given twice`)
    attributes[name] = value.replace(
      /&([^;]*;?)/g,
      (_, entity: string) => ENTITIES[entity] ?? refuse(`&${entity}`),
    )
  }
  return attributes
}

const ENTITIES: Readonly<Record<string, string>> = { 'amp;': '&', 'lt;': '<', 'gt;': '>', 'quot;': '"' }

export interface Cue {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** WebVTT with hours in every time, and one line of text per cue. */
export function readWebvtt(text: string): Cue[] {
  const [header, ...blocks] = text.replace(/\n$/, '').split('\n\n')
  if (header !== 'WEBVTT') refuse('no header')
  return blocks.map(block => {
    const [times = '', line = '', ...more] = block.split('\n')
    const found = /^(\d\d+):([0-5]\d):([0-5]\d)\.000 --> (\d\d+):([0-5]\d):([0-5]\d)\.000$/.exec(times)
    const [, ...numbers] = found ?? refuse(`no times: ${times}`)
    const [h = 0, m = 0, s = 0, endH = 0, endM = 0, endS = 0] = numbers.map(Number)
    if (more.length > 0 || line === '' || /[<>\r]|-->|&(?!(?:amp|lt|gt);)/.test(line))
      refuse(`no cue text: ${line}`)
    const plain = line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
    return { start: (h * 60 + m) * 60 + s, end: (endH * 60 + endM) * 60 + endS, text: plain }
  })
}

type Json = Readonly<Record<string, unknown>>

const isText = (value: unknown) => typeof value === 'string'
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isRate = (value: unknown) => typeof value === 'number' && value > 0
const isFrame = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

/** A value that may also be null. */
const orNull =
  (check: Check): Check =>
  value =>
    value === null || check(value)
const listOf =
  (...schemas: string[]): Check =>
  value =>
    Array.isArray(value) && value.every(each => isOtio(...schemas)(each))

type Check = (value: unknown) => boolean

function isOtio(...schemas: string[]): Check {
  return value => {
    const schema = String((value as Json).OTIO_SCHEMA)
    if (!schemas.includes(schema)) refuse(`${schema} where ${schemas.join(' or ')} is expected`)
    checkOtio(value as Json)
    return true
  }
}

const ITEM: Readonly<Record<string, Check>> = {
  metadata: isObject,
  name: isText,
  effects: value => Array.isArray(value) && value.length === 0,
  markers: listOf('Marker.2'),
  enabled: value => typeof value === 'boolean',
  source_range: orNull(isOtio('TimeRange.1')),
}

/** The fields of each type, as the serialized schema of OpenTimelineIO has them. */
const OTIO: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  'Timeline.1': {
    metadata: isObject,
    name: isText,
    global_start_time: orNull(isOtio('RationalTime.1')),
    tracks: isOtio('Stack.1'),
  },
  'Stack.1': { ...ITEM, children: listOf('Track.1') },
  'Track.1': {
    ...ITEM,
    kind: value => value === 'Video' || value === 'Audio',
    children: listOf('Gap.1', 'Clip.2'),
  },
  'Gap.1': ITEM,
  'Marker.2': {
    metadata: isObject,
    name: isText,
    comment: isText,
    color: value =>
      [
        'PINK',
        'RED',
        'ORANGE',
        'YELLOW',
        'GREEN',
        'CYAN',
        'BLUE',
        'PURPLE',
        'MAGENTA',
        'BLACK',
        'WHITE',
      ].includes(String(value)),
    marked_range: isOtio('TimeRange.1'),
  },
  'TimeRange.1': { start_time: isOtio('RationalTime.1'), duration: isOtio('RationalTime.1') },
  'RationalTime.1': { rate: isRate, value: isFrame },
}

/** Refuses a value with a missing, an unknown or a wrong field, at every depth. */
export function checkOtio(value: Json): void {
  const { OTIO_SCHEMA, ...fields } = value
  const checks = OTIO[String(OTIO_SCHEMA)] ?? refuse(`no schema: ${OTIO_SCHEMA}`)
  const [given, expected] = [Object.keys(fields).sort().join(), Object.keys(checks).sort().join()]
  if (given !== expected) refuse(`${OTIO_SCHEMA} has ${given}, expected ${expected}`)
  for (const [name, check] of Object.entries(checks))
    if (!check(fields[name])) refuse(`${OTIO_SCHEMA}.${name} is ${JSON.stringify(fields[name])}`)
}
