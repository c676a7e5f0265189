/** Configurations and pictures as encoders send them; the pictures have the structure of real ones, and no content. */
import type { MediaMessage } from '../../../src/media/rtmp/publisher.ts'

const fromHex = (text: string) => Buffer.from(text, 'hex')

/** Configurations of x264, x265, SVT-AV1, libaom and of the AAC encoder of ffmpeg, and the size or rate that they state. */
export const CONFIGS = {
  /** 64x48, baseline. */
  avc: fromHex('0142c00affe100176742c00ad9047b011000000300100000030140f122648001000568cb83cb20'),
  /** 1280x720, high, with B-frames. */
  avcHigh: fromHex(
    '0164001fffe1001a6764001facd9405005bb011000000300100000030140f183196001000668ebe3cb22c0fdf8f800',
  ),
  /** 1920x1080, 4:2:2 with ten bits. */
  avc422: fromHex(
    '017a0028ffe1001c677a0028b6cd940780227e27011000000300100000030140f183196001000668ebe3cb22c0fefafa00',
  ),
  /** 322x182, 4:4:4, cropped. */
  avc444: fromHex(
    '01f4000cffe1001b67f4000c919b282a33c7c5e022000003000200000300281e28532c01000668ebe3c44844fff8f800',
  ),
  /** 720x576, interlaced. */
  avcInterlaced: fromHex(
    '01640016ffe1001867640016acd940b424d80880000003008000000a0f8a14cb01000668fba3cb22c0fdf8f800',
  ),
  /** 1920x1080, main. */
  hevc: fromHex(
    '01016000000090000000000078f000fcfdf8f800000f03a00001001840010c01ffff016000000300900000030000030078959809a10001002a420101016000000300900000030000030078a003c08010e596566924caf0168080000003008000000504a2000100074401c172b46240',
  ),
  /** 322x182, main, cropped. */
  hevcSmall: fromHex(
    '0101600000009000000000003cf000fcfdf8f800000f03a00001001840010c01ffff01600000030090000003000003003c959809a10001002a42010101600000030090000003000003003ca00a480b9c9596566924caf0168080000003008000000504a2000100074401c172b46240',
  ),
  /** 322x182. */
  av1Small: fromHex('81000c000a0b000000043d06d4daf90040'),
  /** 1280x720. */
  av1: fromHex('81050c000a0b0000002d4cffb3c02f8004'),
  /** 44,100 Hz, mono. */
  aac44: fromHex('120856e500'),
  /** 48,000 Hz, mono. */
  aac48: fromHex('118856e500'),
  /** 48,000 Hz, stereo. */
  opus: Buffer.concat([Buffer.from('OpusHead'), fromHex('01023801c05d0000000000')]),
} as const

/** The header of a frame of MP3: 44,100 Hz, joint stereo, 128 kbit/s. */
export const MP3_FRAME = Buffer.concat([fromHex('fffb9064'), Buffer.alloc(413, 0x55)])

const unit = (type: number, bytes: number) => {
  const data = Buffer.alloc(4 + bytes, 0xaa)
  data.writeUInt32BE(bytes)
  data.writeUInt8(type, 4)
  return data
}

/** Payloads of RTMP messages. */
export const AVC = {
  header: Buffer.concat([fromHex('1700000000'), CONFIGS.avc]),
  /** @param bytes of the picture without its length */
  keyFrame: (bytes = 100, offset = 0) => Buffer.concat([avcStart(0x17, offset), unit(0x65, bytes)]),
  frame: (bytes = 50, offset = 0) => Buffer.concat([avcStart(0x27, offset), unit(0x41, bytes)]),
}

function avcStart(first: number, offset: number): Buffer {
  const start = Buffer.from([first, 1, 0, 0, 0])
  start.writeIntBE(offset, 2, 3)
  return start
}

export const avcHeader = (config: Uint8Array): Buffer => Buffer.concat([fromHex('1700000000'), config])

export const AAC = {
  header: Buffer.concat([fromHex('af00'), CONFIGS.aac44]),
  header48: Buffer.concat([fromHex('af00'), CONFIGS.aac48]),
  frame: (bytes = 30) => Buffer.concat([fromHex('af01'), Buffer.alloc(bytes, 0xcc)]),
}

/** Video with the four characters of a codec; a key frame or not. */
export function enhancedVideo(
  codec: 'avc1' | 'hvc1' | 'av01',
  role: 'config' | 'key frame' | 'frame',
  data: Uint8Array,
  offset = 0,
): Buffer {
  const isConfig = role === 'config'
  const type = isConfig ? 0 : 1
  const first = 0x80 | ((role === 'frame' ? 2 : 1) << 4) | type
  const offsetBytes = Buffer.alloc(isConfig || codec === 'av01' ? 0 : 3)
  if (offsetBytes.length > 0) offsetBytes.writeIntBE(offset, 0, 3)
  return Buffer.concat([Buffer.from([first]), Buffer.from(codec), offsetBytes, data])
}

export const video = (timestamp: number, payload: Uint8Array): MediaMessage => ({
  kind: 'video',
  timestamp,
  payload,
})
export const audio = (timestamp: number, payload: Uint8Array): MediaMessage => ({
  kind: 'audio',
  timestamp,
  payload,
})
