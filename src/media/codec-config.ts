/**
 * The configuration of a decoder, as an encoder sends it before the first frame: avcC, hvcC, av1C (ISO/IEC 14496-15 and the
 * AV1 binding), AudioSpecificConfig (14496-3), OpusHead; of MP3, the header of a frame. Read for what players want to know before
 * they begin: the size of the pictures, the sample rate, and the name of the codec (RFC 6381).
 *
 * What must hold: any bytes give a configuration or undefined, in a time that their number bounds. Two configurations are the
 * same if their bytes are.
 */
import { BitReader } from './bit-reader.ts'
import type { Codec, Packet } from './packet.ts'
import { type PictureSize, readAv1Size, readAvcSize, readHevcSize } from './picture-size.ts'

export interface TrackConfig {
  readonly kind: 'audio' | 'video'
  readonly codec: Codec
  /** As in RFC 6381: `avc1.64001f`, `mp4a.40.2`. */
  readonly codecString: string
  /** The content of the box of MP4: avcC, hvcC, av1C, dOps, or AudioSpecificConfig; of MP3 none. */
  readonly config: Uint8Array
  readonly width?: number
  readonly height?: number
  readonly sampleRate?: number
  readonly channels?: number
  readonly samplesPerFrame?: number
}

/** Configurations of encoders have less than a hundred bytes, with the options of the encoder in them a few thousand. */
export const MAX_CONFIG_BYTES = 16 * 1024

/** Undefined: no decoder could use it. */
export function readConfig({ codec, data }: Pick<Packet, 'codec' | 'data'>): TrackConfig | undefined {
  return data.length > MAX_CONFIG_BYTES && codec !== 'mp3' ? undefined : READERS[codec](data)
}

export function sameConfig(one: TrackConfig, other: TrackConfig): boolean {
  return one.codec === other.codec && one.codecString === other.codecString && hasSameBytes(one, other)
}

function hasSameBytes(
  { config: one, ...each }: TrackConfig,
  { config: other, ...rest }: TrackConfig,
): boolean {
  return (
    Buffer.compare(one, other) === 0 && each.sampleRate === rest.sampleRate && each.channels === rest.channels
  )
}

const READERS: Readonly<Record<Codec, (data: Uint8Array) => TrackConfig | undefined>> = {
  avc: readAvc,
  hevc: readHevc,
  av1: readAv1,
  aac: readAac,
  opus: readOpus,
  mp3: readMp3,
}

const hex = (value: number) => value.toString(16).padStart(2, '0')
const uint16 = (bytes: Uint8Array, at: number) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
/** A copy: the configuration outlives the message that it came with. */
const copied = (bytes: Uint8Array) => new Uint8Array(bytes)

function video(
  codec: Codec,
  codecString: string,
  config: Uint8Array,
  size: PictureSize | undefined,
): TrackConfig | undefined {
  return size && { kind: 'video', codec, codecString, config: copied(config), ...size }
}

function readAvc(data: Uint8Array): TrackConfig | undefined {
  const [version, profile = 0, compatibility = 0, level = 0, , count = 0] = data
  if (version !== 1 || (count & 31) === 0) return undefined
  const sps = data.subarray(8, 8 + uint16(data, 6))
  const pps = 8 + uint16(data, 6)
  // Without a picture parameter set nothing can be decoded.
  if (sps.length < 4 || (data[pps] ?? 0) === 0) return undefined
  return video('avc', `avc1.${hex(profile)}${hex(compatibility)}${hex(level)}`, data, readAvcSize(sps))
}

const HEVC_SPS = 33
const HVCC_BYTES = 23

function readHevc(data: Uint8Array): TrackConfig | undefined {
  if (data.length < HVCC_BYTES || data[0] !== 1) return undefined
  const sps = findHevcSps(data)
  return sps && video('hevc', hevcCodecString(data), data, readHevcSize(sps))
}

function findHevcSps(data: Uint8Array): Uint8Array | undefined {
  let at = HVCC_BYTES
  for (let array = data[HVCC_BYTES - 1] ?? 0; array > 0 && at < data.length; array--) {
    const type = (data[at] ?? 0) & 63
    let units = uint16(data, at + 1)
    at += 3
    for (; units > 0 && at < data.length; units--) {
      const end = at + 2 + uint16(data, at)
      if (type === HEVC_SPS && end <= data.length) return data.subarray(at + 2, end)
      at = end
    }
  }
  return undefined
}

/** Profile with its space, compatibility with the bits in reverse, tier and level, constraints without zeros at the end. */
function hevcCodecString(data: Uint8Array): string {
  const [, profile = 0] = data
  const level = data[12] ?? 0
  let compatibility = 0
  for (let bit = 0; bit < 32; bit++)
    compatibility += (((data[2 + (bit >> 3)] ?? 0) >> (7 - (bit & 7))) & 1) * 2 ** bit
  const constraints = [...data.subarray(6, 12)]
  while (constraints.at(-1) === 0) constraints.pop()
  const space = ['', 'A', 'B', 'C'][profile >> 6]
  const tier = (profile & 32) === 0 ? 'L' : 'H'
  const parts = [`${space}${profile & 31}`, compatibility.toString(16), `${tier}${level}`]
  return ['hvc1', ...parts, ...constraints.map(byte => byte.toString(16).toUpperCase())].join('.')
}

const AV1C_BYTES = 4

function readAv1(data: Uint8Array): TrackConfig | undefined {
  const [version, profileAndLevel = 0, depth = 0] = data
  if (version !== 0x81) return undefined
  const bits = (depth & 0x40) === 0 ? 8 : (depth & 0x20) === 0 ? 10 : 12
  const level = String(profileAndLevel & 31).padStart(2, '0')
  const tier = (depth & 0x80) === 0 ? 'M' : 'H'
  const codecString = `av01.${profileAndLevel >> 5}.${level}${tier}.${String(bits).padStart(2, '0')}`
  return video('av1', codecString, data, readAv1Size(data.subarray(AV1C_BYTES)))
}

const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
]
const AAC_CHANNELS = [2, 1, 2, 3, 4, 5, 6, 8]
/** Types of AAC that double the rate of another, which they name behind it. */
const WITH_EXTENSION: ReadonlySet<number> = new Set([5, 29])
const [MIN_RATE, MAX_RATE] = [7350, 96_000]

function readAac(data: Uint8Array): TrackConfig | undefined {
  const bits = new BitReader(data)
  const type = readAacType(bits)
  const sampleRate = readAacRate(bits)
  const channels = AAC_CHANNELS[bits.bits(4)]
  if (WITH_EXTENSION.has(type)) {
    readAacRate(bits)
    readAacType(bits)
  }
  const samplesPerFrame = bits.bit() === 1 ? 960 : 1024
  const isUsable = type > 0 && sampleRate >= MIN_RATE && sampleRate <= MAX_RATE && !bits.isPastEnd
  if (!isUsable || channels === undefined) return undefined
  const codecString = `mp4a.40.${type}`
  return {
    kind: 'audio',
    codec: 'aac',
    codecString,
    config: copied(data),
    sampleRate,
    channels,
    samplesPerFrame,
  }
}

function readAacType(bits: BitReader): number {
  const type = bits.bits(5)
  return type === 31 ? 32 + bits.bits(6) : type
}

function readAacRate(bits: BitReader): number {
  const index = bits.bits(4)
  return index === 15 ? bits.bits(24) : (AAC_RATES[index] ?? 0)
}

const OPUS_RATE = 48_000
/** 20 ms, which encoders use. */
const OPUS_SAMPLES = 960
const OPUS_HEAD_BYTES = 19

/** OpusHead has its numbers in little endian, its box in big endian. */
function readOpus(data: Uint8Array): TrackConfig | undefined {
  const source = Buffer.from(data)
  if (source.length < OPUS_HEAD_BYTES || source.toString('latin1', 0, 8) !== 'OpusHead') return undefined
  const channels = source.readUInt8(9)
  if (channels < 1 || channels > 8) return undefined
  const config = source.subarray(8)
  config.writeUInt8(0, 0)
  config.writeUInt16BE(config.readUInt16LE(2), 2)
  config.writeUInt32BE(config.readUInt32LE(4), 4)
  config.writeUInt16BE(config.readUInt16LE(8), 8)
  const rate = { sampleRate: OPUS_RATE, samplesPerFrame: OPUS_SAMPLES }
  return { kind: 'audio', codec: 'opus', codecString: 'opus', config: copied(config), channels, ...rate }
}

const MP3_RATES = [44_100, 48_000, 32_000]
const MONO = 3

function readMp3(data: Uint8Array): TrackConfig | undefined {
  const [sync, first = 0, second = 0, third = 0] = data
  const version = (first >> 3) & 3
  const full = MP3_RATES[(second >> 2) & 3]
  const isLayer3 = sync === 0xff && first >> 5 === 7 && ((first >> 1) & 3) === 1
  if (!isLayer3 || version === 1 || full === undefined) return undefined
  const isFirstVersion = version === 3
  const sampleRate = isFirstVersion ? full : version === 2 ? full / 2 : full / 4
  const channels = third >> 6 === MONO ? 1 : 2
  const codecString = isFirstVersion ? 'mp4a.6B' : 'mp4a.69'
  const samplesPerFrame = isFirstVersion ? 1152 : 576
  const config = new Uint8Array(0)
  return { kind: 'audio', codec: 'mp3', codecString, config, sampleRate, channels, samplesPerFrame }
}

/** Units of a picture that are looked at: parameter sets come first, and few of them. */
const MAX_UNITS = 32
const AVC_IDR = 5
const isHevcStart = (type: number) => type >= 16 && type <= 21

/**
 * Whether a decoder can start with this picture. The flag of RTMP is not enough: some encoders set it on pictures that others
 * before them are needed for.
 */
export function isStartOfDecoding({ config }: TrackConfig, { codec, role, data }: Packet): boolean {
  if (role !== 'key frame') return false
  if (codec !== 'avc' && codec !== 'hevc') return true
  const lengthBytes = 1 + ((config[codec === 'avc' ? 4 : 21] ?? 3) & 3)
  let at = 0
  for (let unit = 0; unit < MAX_UNITS && at + lengthBytes < data.length; unit++) {
    let length = 0
    for (let index = 0; index < lengthBytes; index++) length = length * 256 + (data[at + index] ?? 0)
    const first = data[at + lengthBytes] ?? 0
    if (codec === 'avc' ? (first & 31) === AVC_IDR : isHevcStart((first >> 1) & 63)) return true
    at += lengthBytes + length
  }
  return false
}
