/** Every parser of input that others send or store: valid input, how it may refuse, and what must hold of its results. */
import { readdirSync, readFileSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { exampleLines, TRANSFER_TYPES } from '../../src/contract/resources/transfer.ts'
import { InvalidScenario } from '../../src/demo/invalid-scenario.ts'
import { parseScenario } from '../../src/demo/read-scenario.ts'
import { Cursors, isWellFormedCursor } from '../../src/http/endpoint/cursor.ts'
import { readRange } from '../../src/http/responses/recording-response.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { readConfig } from '../../src/media/codec-config.ts'
import { fragment, initSegment } from '../../src/media/hls/fmp4.ts'
import { readPacket } from '../../src/media/packet.ts'
import { joinPlaylists } from '../../src/media/recording/joined-playlist.ts'
import { fragmentSpan } from '../../src/media/recording/mp4-reader.ts'
import { FILE_START, readItems } from '../../src/media/recording/recording-file.ts'
import { RecordingPlaylist } from '../../src/media/recording/recording-playlist.ts'
import { type Amf, decodeAmf, encodeAmf } from '../../src/media/rtmp/amf0.ts'
import { ChunkReader, TYPE, writeChunks } from '../../src/media/rtmp/chunks.ts'
import { Handshake } from '../../src/media/rtmp/handshake.ts'
import { ProtocolError } from '../../src/media/rtmp/protocol-error.ts'
import { Publisher } from '../../src/media/rtmp/publisher.ts'
import { linesOf, MAX_LINE_BYTES } from '../../src/transfer/lines.ts'
import { LineViolation, readLine } from '../../src/transfer/read-line.ts'
import { AAC, AVC, CONFIGS, MP3_FRAME } from '../support/media/codecs.ts'
import { AMF_BOMBS, conversation, HANDSHAKE } from '../support/media/rtmp-mutations.ts'
import type { FuzzedParser, Outcome } from './fuzz.ts'
import { type Mutator, mutateJson } from './mutator.ts'

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`does not hold: ${what}`)
}

/** A parser that refuses by throwing an error of this kind, and no other. */
function unless(Refusal: new (...args: never[]) => Error, work: () => void): Outcome {
  try {
    work()
    return 'accepted'
  } catch (error) {
    if (error instanceof Refusal) return 'refused'
    throw error
  }
}

const BLOCK = 1536
const RANDOM_BYTES = new Uint8Array(1528)
const TWO_BLOCKS = 1 + 2 * BLOCK

const handshake: FuzzedParser = {
  name: 'RTMP handshake',
  seeds: [
    HANDSHAKE,
    HANDSHAKE.subarray(0, 1 + BLOCK),
    Buffer.concat([HANDSHAKE, Buffer.from('more')]),
    // The version of an encrypted handshake.
    Buffer.concat([Buffer.from([6]), HANDSHAKE.subarray(1)]),
  ],
  parse: (bytes, random) =>
    unless(ProtocolError, () => {
      const reader = new Handshake(RANDOM_BYTES)
      const cut = random.below(bytes.length + 1)
      let replies = 0
      let rest: Uint8Array | undefined
      for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
        if (rest !== undefined) break
        const step = reader.push(piece)
        if (step.reply !== undefined) {
          replies += 1
          check(step.reply.length === TWO_BLOCKS, 'a reply has two blocks')
          check(step.reply[1 + BLOCK] === bytes[1], 'the reply returns the block of the client')
        }
        rest = step.rest
        if (rest !== undefined && cut >= TWO_BLOCKS) return
      }
      check(replies === (bytes.length > BLOCK ? 1 : 0), 'there is one reply to one block')
      check((rest !== undefined) === bytes.length >= TWO_BLOCKS, 'it is complete after two blocks')
      if (rest !== undefined) check(rest.length === bytes.length - TWO_BLOCKS, 'the rest is what follows')
    }),
}

const MAX_SEED_BYTES = 1500
const MESSAGES = conversation()
  .slice(1)
  .filter(piece => piece.length < MAX_SEED_BYTES)
const INTRODUCTION = Buffer.concat(MESSAGES.slice(0, 7))

const chunks: FuzzedParser = {
  name: 'RTMP chunks',
  seeds: [...MESSAGES, INTRODUCTION, Buffer.concat(MESSAGES.slice(6))],
  parse: (bytes, random) =>
    unless(ProtocolError, () => {
      const reader = new ChunkReader()
      const cut = random.below(bytes.length + 1)
      const messages = [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut))]
      let received = 0
      for (const message of messages) {
        received += message.payload.length
        check(message.timestamp >= 0 && message.timestamp <= 0xffffffff, 'times have 32 bits')
        const again = new ChunkReader().push(writeChunks(3, message, 128))
        const isKept = message.type === TYPE.setChunkSize || message.type === TYPE.abort
        const [same] = again
        if (message.payload.length > 0 && !isKept)
          check(
            same?.type === message.type &&
              same.streamId === message.streamId &&
              same.timestamp === message.timestamp &&
              Buffer.compare(same.payload, message.payload) === 0,
            'a message that is written is read as it was',
          )
      }
      check(received <= bytes.length, 'messages are no longer than what was received')
    }),
}

const commands: FuzzedParser = {
  name: 'RTMP commands',
  seeds: [INTRODUCTION, Buffer.concat(MESSAGES), Buffer.concat(MESSAGES.slice(1))],
  parse: bytes =>
    unless(ProtocolError, () => {
      let replied = 0
      let media = 0
      const publisher: Publisher = new Publisher(
        {
          send: reply => {
            replied += reply.length
          },
          publish: ({ app, name }) => {
            check(typeof app === 'string' && typeof name === 'string', 'app and name are texts')
            publisher.accept()
          },
          media: ({ payload }) => {
            media += payload.length
          },
          stop: () => undefined,
        },
        RANDOM_BYTES,
      )
      publisher.receive(HANDSHAKE)
      publisher.receive(bytes)
      check(media <= bytes.length, 'media is no longer than what was received')
      check(replied <= TWO_BLOCKS + 1000 + 20 * bytes.length, 'replies are bounded by what was received')
    }),
}

const NESTED = new Map<string, Amf>([
  ['app', 'live'],
  ['nested', new Map<string, Amf>([['list', [1, 'two', null, undefined, [true, false]]]])],
])

const amf: FuzzedParser = {
  name: 'AMF0',
  seeds: [
    encodeAmf('connect', 1, NESTED),
    encodeAmf('publish', 5, null, 'live_1_key', 'live'),
    encodeAmf('@setDataFrame', 'onMetaData', NESTED),
    encodeAmf(0, -1.5, true, undefined, [], 'Zażółć'),
    ...AMF_BOMBS.filter(({ length }) => length < MAX_SEED_BYTES),
  ],
  parse: bytes =>
    unless(ProtocolError, () => {
      const written = encodeAmf(...decodeAmf(bytes, { maxValues: 1000 }))
      check(Buffer.compare(encodeAmf(...decodeAmf(written)), written) === 0, 'values are read as written')
    }),
}

const MEDIA = [
  AVC.header,
  AVC.keyFrame(40),
  AVC.frame(40),
  AAC.header,
  Buffer.concat([Buffer.from([0xaf, 1]), Buffer.alloc(20, 7)]),
  Buffer.concat([Buffer.from([0x2f]), MP3_FRAME.subarray(0, 60)]),
  ...(['avcHigh', 'avc422', 'avc444', 'avcInterlaced'] as const).map(name =>
    Buffer.concat([AVC.header.subarray(0, 5), CONFIGS[name]]),
  ),
  ...(['hevc', 'hevcSmall'] as const).map(name =>
    Buffer.concat([Buffer.from('\x90hvc1', 'latin1'), CONFIGS[name]]),
  ),
  ...(['av1', 'av1Small'] as const).map(name =>
    Buffer.concat([Buffer.from('\x90av01', 'latin1'), CONFIGS[name]]),
  ),
  Buffer.concat([Buffer.from('\x90Opus', 'latin1'), CONFIGS.opus]),
  Buffer.concat([Buffer.from('\x90mp4a', 'latin1'), CONFIGS.aac48]),
]
/** It is put into playlists, between quotes. */
const CODEC_STRING = /^[A-Za-z0-9.]{1,80}$/

const flv: FuzzedParser = {
  name: 'FLV messages',
  seeds: MEDIA,
  parse(bytes, random) {
    const kind = random.below(3) === 0 ? 'audio' : 'video'
    const packet = readPacket({ kind, timestamp: 40, payload: bytes })
    if (packet === undefined) return 'refused'
    check(packet.data.length > 0 && packet.data.length <= bytes.length, 'the data is part of the message')
    check(Math.abs(packet.compositionOffset) <= 2 ** 23, 'offsets have 24 bits')
    const config = readConfig(packet)
    if (config === undefined) return 'refused'
    check(CODEC_STRING.test(config.codecString), 'the name of the codec can be quoted')
    for (const number of [
      config.width,
      config.height,
      config.sampleRate,
      config.channels,
      config.samplesPerFrame,
    ])
      check(number === undefined || (Number.isSafeInteger(number) && number >= 0), 'sizes are whole numbers')
    for (const side of [config.width, config.height])
      check(side === undefined || side <= 0xffff, 'a side fits into the tables of MP4')
    check(initSegment([config]).length > 0, 'tables can be written')
    return 'accepted'
  },
}

const picture = assertDefined(readConfig({ codec: 'avc', data: CONFIGS.avcHigh }), 'a configuration')
const sound = assertDefined(readConfig({ codec: 'aac', data: CONFIGS.aac48 }), 'a configuration')
const sample = (bytes: number, isKey: boolean) => ({
  data: new Uint8Array(bytes),
  duration: 3000,
  compositionOffset: 0,
  isKey,
})
const fragmentAt = (sequence: number) =>
  fragment(sequence, [
    {
      trackId: 1,
      kind: 'video',
      baseDecodeTime: sequence * 6000,
      samples: [sample(9, true), sample(5, false)],
    },
    { trackId: 2, kind: 'audio', baseDecodeTime: sequence * 3200, samples: [sample(4, true)] },
  ])
const INIT = initSegment([picture, sound])
const RECORDING = Buffer.concat([FILE_START, INIT, fragmentAt(0), INIT, fragmentAt(9)])

/** A file in memory. */
const asHandle = (bytes: Buffer) =>
  ({
    stat: async () => ({ size: bytes.length }),
    read: async (into: Buffer, offset: number, length: number, at: number) => ({
      bytesRead: bytes.copy(into, offset, at, Math.min(bytes.length, at + length)),
    }),
  }) as unknown as FileHandle

/** A playlist has a line for each gap of ten seconds, at most for a day, and five for each entry. */
const mostLines = (entries: number) => 20 + entries * (10 + 3 * 8640)

const mp4: FuzzedParser = {
  name: 'MP4 scan',
  seeds: [RECORDING, Buffer.concat([FILE_START, INIT, fragmentAt(1)])],
  async parse(bytes) {
    const playlist = new RecordingPlaylist('1.mp4')
    let items = 0
    const end = await readItems(asHandle(bytes), item => {
      items += 1
      check(item.at >= FILE_START.length && item.at + item.size <= bytes.length, 'an item is in the file')
      const span = item.kind === 'fragment' ? fragmentSpan(item.runs, item.tracks) : undefined
      if (span !== undefined) playlist.add({ at: item.at, size: item.size, ...span })
      else playlist.addInit(item.at, item.size)
    })
    check(end === undefined || end <= bytes.length, 'the last fragment ends in the file')
    const text = playlist.finish()
    check(!/NaN|Infinity|:-/.test(text), 'a playlist has times that are numbers')
    check(text.split('\n').length <= mostLines(items), 'a playlist is bounded')
    return end === undefined ? 'refused' : 'accepted'
  },
}

const playlistText = (): string => {
  const playlist = new RecordingPlaylist('1.mp4')
  playlist.addInit(28, 700)
  for (const at of [0, 1, 2, 9])
    playlist.add({
      at: 728 + at * 500,
      size: 500,
      from: at * 540_000,
      to: (at + 1) * 540_000,
      isIndependent: true,
    })
  return playlist.finish()
}

/** A gap is one entry of four lines, and all gaps together are at most a day. */
const [GAP_LINES, MAX_GAPS] = [4, 8640]

const playlists: FuzzedParser = {
  name: 'playlists',
  seeds: [Buffer.from(playlistText()), Buffer.from(playlistText().slice(0, 300))],
  tokens: [
    '#EXTINF:',
    '1e9',
    '-1',
    'NaN',
    'Infinity',
    '#EXT-X-GAP\n',
    '#EXT-X-BYTERANGE:',
    '@',
    '9999999999',
    '"',
    '\n',
  ],
  parse(bytes, random) {
    const text = bytes.toString('latin1')
    const files = [
      { uri: '1.mp4', text },
      ...(random.below(2) === 0 ? [] : [{ uri: '1-2.mp4', text: playlistText() }]),
    ]
    const joinedText = joinPlaylists(files, random.below(2) === 0)
    const lines = joinedText.split('\n')
    const entries = files.reduce((sum, each) => sum + each.text.split('\n').length, 0)
    check(lines.length <= 20 + 10 * entries + GAP_LINES * MAX_GAPS, 'a playlist is bounded')
    for (const line of lines)
      if (line.startsWith('#EXTINF:')) check(/^#EXTINF:[0-9]+\.[0-9]{5},$/.test(line), 'a time is a number')
    return joinedText.includes('#EXTINF:') ? 'accepted' : 'refused'
  },
}

const ranges: FuzzedParser = {
  name: 'HTTP ranges',
  seeds: ['bytes=0-', 'bytes=0-99', 'bytes=-500', 'bytes=100-200', 'bytes=0-0', 'bytes=999999999999999-'].map(
    text => Buffer.from(text),
  ),
  tokens: ['bytes=', '-', '999999999999999', '0', ',', ' ', '1e3'],
  parse(bytes, random) {
    const size = random.pick([0, 1, 100, 2 ** 40])
    const range = readRange(bytes.toString('latin1'), size)
    if (range === undefined || range === 'unsatisfiable') return 'refused'
    check(range.from >= 0 && range.to <= size, 'a range is in the file')
    check(range.from < range.to || size === 0, 'a range has a byte')
    return 'accepted'
  },
}

/** Mutated as text, or in one of so many cases as a value, which reaches further and takes longer. */
function jsonText(seeds: readonly unknown[], bytes: Buffer, random: Mutator, oneIn: number): string {
  if (random.below(oneIn) > 0) return bytes.toString('utf8')
  let value = random.pick(seeds)
  for (let count = random.below(3); count >= 0; count--) value = mutateJson(value, random)
  return JSON.stringify(value) ?? 'null'
}

const JSON_TOKENS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '-1',
  '1e999',
  '\\ud800',
  '"__proto__":',
  '\n',
  '\ufeff',
]
const DOCUMENTED = readFileSync('docs/transfer.md', 'utf8').match(/^\{"type".*$/gm) ?? []
const LINES: readonly unknown[] = [...exampleLines, ...DOCUMENTED.map(line => JSON.parse(line))]

async function* inTwo(bytes: Uint8Array, cut: number): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, cut)
  yield bytes.subarray(cut)
}

const jsonLines: FuzzedParser = {
  name: 'JSON lines',
  seeds: LINES.map(line => Buffer.from(`${JSON.stringify(line)}\n`)),
  tokens: JSON_TOKENS,
  async parse(bytes, random) {
    // A file of lines, or one line as a value.
    if (random.below(2) === 0) return readOneLine(jsonText(LINES, bytes, random, 2))
    let outcome: Outcome = 'refused'
    let last = 0
    for await (const lines of linesOf(inTwo(bytes, random.below(bytes.length + 1))))
      for (const { number, text, violation } of lines) {
        check(number > last, 'numbers rise')
        last = number
        check((text === undefined) !== (violation === undefined), 'a line has a text or a violation')
        check((text?.length ?? 0) <= MAX_LINE_BYTES, 'a line is bounded')
        if (text !== undefined && readOneLine(text) === 'accepted') outcome = 'accepted'
      }
    return outcome
  },
}

const readOneLine = (text: string): Outcome =>
  unless(LineViolation, () => {
    const line = readLine(text)
    check(TRANSFER_TYPES.includes(line.type), 'the type exists')
    const written = JSON.stringify(line)
    check(JSON.stringify(readLine(written)) === written, 'a line that is written is read as it was')
  })

const cursorsOf = new Cursors(new KeyRing([{ id: 'k', bytes: new Uint8Array(32).fill(1) }]))
const BOOKMARKS = [
  { first: ['2026-03-01T12:00:00.000Z', 17], last: ['2026-03-02T12:00:00.000Z', 4711] },
  { first: ['a'], last: ['b'], cursorState: [7, 'x'] },
]
const SEALED = BOOKMARKS.map(mark => cursorsOf.seal('list', mark))

const cursors: FuzzedParser = {
  name: 'cursors',
  seeds: SEALED.map(text => Buffer.from(text)),
  tokens: ['=', '-', '_', '+', '/', '%', 'AAAA'],
  parse(bytes, random) {
    const text = bytes.toString('latin1')
    const isWellFormed = isWellFormedCursor(text)
    const opened = cursorsOf.open('list', text)
    check(opened === undefined || (isWellFormed && SEALED.includes(text)), 'only what was sealed is opened')
    check(cursorsOf.open('another list', text) === undefined, 'a cursor belongs to its list')
    const mark = { first: [text], last: [random.below(2 ** 31)] }
    const again = cursorsOf.open('list', cursorsOf.seal('list', mark))
    check(again?.first[0] === text && again.last[0] === mark.last[0], 'a bookmark is opened as it was sealed')
    return opened === undefined ? 'refused' : 'accepted'
  },
}

const SCENARIOS = readdirSync('docs/scenarios').map(file => readFileSync(`docs/scenarios/${file}`, 'utf8'))
const SCENARIO_VALUES: readonly unknown[] = SCENARIOS.map(text => JSON.parse(text))

const scenarios: FuzzedParser = {
  name: 'scenario files',
  seeds: SCENARIOS.map(text => Buffer.from(text)),
  tokens: JSON_TOKENS,
  parse: (bytes, random) =>
    unless(InvalidScenario, () => {
      const scenario = parseScenario(jsonText(SCENARIO_VALUES, bytes, random, 8))
      const written = JSON.stringify(scenario)
      check(
        JSON.stringify(parseScenario(written)) === written,
        'a scenario that is written is read as it was',
      )
    }),
}

export const PARSERS: readonly FuzzedParser[] = [
  handshake,
  chunks,
  commands,
  amf,
  flv,
  mp4,
  playlists,
  ranges,
  jsonLines,
  cursors,
  scenarios,
]
