/**
 * The size of the pictures, from the header of a video sequence: the sequence parameter set of H.264 (ITU-T H.264, 7.3.2.1.1)
 * and of HEVC (H.265, 7.3.2.2), and the sequence header of AV1 (5.5). The size is far into each of them, behind fields whose
 * length depends on others. Undefined: the bytes are no such header, or the size is none that a picture can have.
 */
import { BitReader } from './bit-reader.ts'

export interface PictureSize {
  readonly width: number
  readonly height: number
}

const MAX_SIDE = 16_384
/** Parameter sets have about 50 bytes. */
const MAX_BYTES = 1024
/** Profiles of H.264 with a field for how colours are sampled; all others have half as many in each direction. */
const AVC_PROFILES_WITH_CHROMA: ReadonlySet<number> = new Set([
  100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
])
const MONOCHROME = 0
const FULL_COLOUR = 3
const MAX_FRAMES_IN_CYCLE = 255
const MAX_SUB_LAYERS = 7

/** @param sps with the byte of its type */
export function readAvcSize(sps: Uint8Array): PictureSize | undefined {
  const bits = new BitReader(withoutEmulation(sps.subarray(1)))
  const profile = bits.bits(8)
  bits.skip(16)
  bits.unsigned()
  let chroma = 1
  if (AVC_PROFILES_WITH_CHROMA.has(profile)) {
    chroma = bits.unsigned()
    if (chroma === FULL_COLOUR) bits.skip(1)
    bits.unsigned()
    bits.unsigned()
    bits.skip(1)
    if (bits.bit() === 1) skipScalingLists(bits, chroma === FULL_COLOUR ? 12 : 8)
  }
  bits.unsigned()
  skipPictureOrder(bits)
  bits.unsigned()
  bits.skip(1)
  const widthInBlocks = bits.unsigned() + 1
  const heightInUnits = bits.unsigned() + 1
  const isProgressive = bits.bit()
  if (isProgressive === 0) bits.skip(1)
  bits.skip(1)
  const lines = 2 - isProgressive
  const crop = readCrop(bits)
  const unitX = chroma === MONOCHROME || chroma === FULL_COLOUR ? 1 : 2
  const unitY = (chroma === 1 ? 2 : 1) * lines
  return checked(bits, {
    width: widthInBlocks * 16 - unitX * (crop.left + crop.right),
    height: heightInUnits * 16 * lines - unitY * (crop.top + crop.bottom),
  })
}

/** @param sps with the two bytes of its type */
export function readHevcSize(sps: Uint8Array): PictureSize | undefined {
  const bits = new BitReader(withoutEmulation(sps.subarray(2)))
  bits.skip(4)
  const subLayers = bits.bits(3)
  bits.skip(1)
  if (subLayers >= MAX_SUB_LAYERS) return undefined
  skipProfileTierLevel(bits, subLayers)
  bits.unsigned()
  const chroma = bits.unsigned()
  if (chroma === FULL_COLOUR) bits.skip(1)
  const width = bits.unsigned()
  const height = bits.unsigned()
  const crop = readCrop(bits)
  const unitX = chroma === 1 || chroma === 2 ? 2 : 1
  const unitY = chroma === 1 ? 2 : 1
  return checked(bits, {
    width: width - unitX * (crop.left + crop.right),
    height: height - unitY * (crop.top + crop.bottom),
  })
}

const AV1_SEQUENCE_HEADER = 1

/** @param units open bitstream units, of which the first is the sequence header */
export function readAv1Size(units: Uint8Array): PictureSize | undefined {
  const bits = new BitReader(units.subarray(0, MAX_BYTES))
  bits.skip(1)
  const type = bits.bits(4)
  const hasExtension = bits.bit()
  const hasLength = bits.bit()
  bits.skip(1 + 8 * hasExtension)
  if (type !== AV1_SEQUENCE_HEADER) return undefined
  if (hasLength === 1) while (!bits.isPastEnd && bits.bits(8) >= 128);
  bits.skip(4)
  if (bits.bit() === 1) bits.skip(5)
  else skipAv1OperatingPoints(bits)
  const widthBits = bits.bits(4) + 1
  const heightBits = bits.bits(4) + 1
  return checked(bits, { width: bits.bits(widthBits) + 1, height: bits.bits(heightBits) + 1 })
}

/** Whether the picture is not interlaced, and its model of buffers, in front of the size. */
function skipAv1OperatingPoints(bits: BitReader): void {
  let delayBits = 0
  const hasTiming = bits.bit() === 1
  if (hasTiming) {
    bits.skip(64)
    if (bits.bit() === 1) bits.unsigned()
    if (bits.bit() === 1) {
      delayBits = bits.bits(5) + 1
      bits.skip(42)
    }
  }
  const hasDisplayDelay = bits.bit() === 1
  const points = bits.bits(5) + 1
  for (let point = 0; point < points; point++) {
    bits.skip(12)
    if (bits.bits(5) > 7) bits.skip(1)
    if (delayBits > 0 && bits.bit() === 1) bits.skip(2 * delayBits + 1)
    if (hasDisplayDelay && bits.bit() === 1) bits.skip(4)
  }
}

function checked(bits: BitReader, { width, height }: PictureSize): PictureSize | undefined {
  const isPossible = (side: number) => side > 0 && side <= MAX_SIDE
  return !bits.isPastEnd && isPossible(width) && isPossible(height) ? { width, height } : undefined
}

interface Crop {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

function readCrop(bits: BitReader): Crop {
  if (bits.bit() === 0) return { left: 0, right: 0, top: 0, bottom: 0 }
  const [left, right, top, bottom] = [bits.unsigned(), bits.unsigned(), bits.unsigned(), bits.unsigned()]
  return { left, right, top, bottom }
}

function skipScalingLists(bits: BitReader, count: number): void {
  for (let list = 0; list < count; list++) {
    if (bits.bit() === 0) continue
    let next = 8
    for (let index = 0; index < (list < 6 ? 16 : 64) && next !== 0; index++)
      next = (next + bits.signed() + 256) % 256
  }
}

function skipPictureOrder(bits: BitReader): void {
  const type = bits.unsigned()
  if (type === 0) bits.unsigned()
  if (type !== 1) return
  bits.skip(1)
  bits.signed()
  bits.signed()
  const frames = Math.min(bits.unsigned(), MAX_FRAMES_IN_CYCLE)
  for (let frame = 0; frame < frames; frame++) bits.signed()
}

function skipProfileTierLevel(bits: BitReader, subLayers: number): void {
  bits.skip(96)
  const layers = Array.from({ length: subLayers }, () => ({ profile: bits.bit(), level: bits.bit() }))
  if (subLayers > 0) bits.skip(2 * (8 - subLayers))
  for (const { profile, level } of layers) bits.skip(88 * profile + 8 * level)
}

/** A parameter set without the bytes that keep it from looking like the start of another one: 0 0 3 stands for 0 0. */
function withoutEmulation(bytes: Uint8Array): Uint8Array {
  const length = Math.min(bytes.length, MAX_BYTES)
  const plain = new Uint8Array(length)
  let size = 0
  let zeros = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] ?? 0
    if (zeros === 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? Math.min(zeros + 1, 2) : 0
    plain[size++] = byte
  }
  return plain.subarray(0, size)
}
