import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readPacket } from '../../src/media/packet.ts'
import { AAC, AVC, audio, CONFIGS, enhancedVideo, MP3_FRAME, video } from '../support/media/codecs.ts'
import { runs } from '../support/properties.ts'

const AUDIO = { kind: 'audio', timestamp: 7, compositionOffset: 0 } as const

describe('a message becomes a packet', () => {
  test('of H.264, with the composition offset as a signed number', () => {
    expect(readPacket(video(7, AVC.header))).toEqual({
      ...{ kind: 'video', codec: 'avc', role: 'config', timestamp: 7, compositionOffset: 0 },
      data: CONFIGS.avc,
    })
    for (const offset of [0, 80, -80, 8_388_607, -8_388_608]) {
      const key = readPacket(video(4_294_967_295, AVC.keyFrame(10, offset)))
      expect(key).toMatchObject({ role: 'key frame', compositionOffset: offset, timestamp: 4_294_967_295 })
      expect(readPacket(video(1, AVC.frame(9, offset)))).toMatchObject({
        role: 'frame',
        compositionOffset: offset,
      })
    }
    expect(readPacket(video(1, AVC.frame(9)))?.data.length).toBe(13)
  })

  test('with an enhanced header, whose frames of AV1 have no offset', () => {
    const data = Buffer.from('picture')
    for (const [name, codec] of [
      ['avc1', 'avc'],
      ['hvc1', 'hevc'],
      ['av01', 'av1'],
    ] as const) {
      const compositionOffset = codec === 'av1' ? 0 : -40
      const common = { kind: 'video', codec, timestamp: 3, data } as const
      expect(readPacket(video(3, enhancedVideo(name, 'config', data)))).toEqual({
        ...common,
        role: 'config',
        compositionOffset: 0,
      })
      for (const role of ['key frame', 'frame'] as const)
        expect(readPacket(video(3, enhancedVideo(name, role, data, -40)))).toEqual({
          ...common,
          role,
          compositionOffset,
        })
    }
    const withoutOffset = Buffer.concat([Buffer.from([0x93]), Buffer.from('hvc1'), data])
    expect(readPacket(video(3, withoutOffset))).toMatchObject({
      role: 'key frame',
      compositionOffset: 0,
      data,
    })
  })

  test('of audio: AAC, MP3, and Opus with an enhanced header', () => {
    expect(readPacket(audio(7, AAC.header))).toEqual({
      ...AUDIO,
      codec: 'aac',
      role: 'config',
      data: CONFIGS.aac44,
    })
    expect(readPacket(audio(7, AAC.frame(5)))).toMatchObject({ ...AUDIO, codec: 'aac', role: 'frame' })
    expect(readPacket(audio(7, Buffer.concat([Buffer.from([0x2f]), MP3_FRAME])))).toEqual({
      ...AUDIO,
      codec: 'mp3',
      role: 'frame',
      data: MP3_FRAME,
    })
    const opus = (type: number, data: Uint8Array) =>
      Buffer.concat([Buffer.from([0x90 | type]), Buffer.from('Opus'), data])
    expect(readPacket(audio(7, opus(0, CONFIGS.opus)))).toEqual({
      ...AUDIO,
      codec: 'opus',
      role: 'config',
      data: CONFIGS.opus,
    })
    expect(readPacket(audio(7, opus(1, CONFIGS.opus)))).toMatchObject({ codec: 'opus', role: 'frame' })
  })

  test('undefined for what carries nothing to decode, and for codecs that MP4 is not used for', () => {
    const payloads = [
      '',
      '17',
      '1700',
      '1701000000',
      '1702000000aa',
      '57010000005501',
      '2201',
      'a701aa',
      '94617663310000',
      '92617663310000',
      '90766d3039aa',
      '97617663310000',
    ]
    for (const payload of payloads)
      expect([payload, readPacket(video(0, Buffer.from(payload, 'hex')))]).toEqual([payload, undefined])
    for (const payload of [
      '',
      'af',
      'af01',
      'af00',
      '2f',
      '2fff',
      'b0112233',
      '90',
      '9045737',
      '92416c6177aa',
      '914f707573',
    ])
      expect([payload, readPacket(audio(0, Buffer.from(payload, 'hex')))]).toEqual([payload, undefined])
    expect(readPacket({ kind: 'metadata', timestamp: 0, payload: AVC.header })).toBeUndefined()
  })
})

test('property: any bytes give a packet or undefined; the data are the end of the payload, without a copy', () => {
  const kinds = fc.constantFrom('audio' as const, 'video' as const)
  // Mostly headers that mean something.
  const first = fc.oneof(fc.constantFrom(0x17, 0x27, 0x1c, 0x90, 0x91, 0xa1, 0xaf, 0x2f), fc.nat(255))
  const name = fc.constantFrom('avc1', 'hvc1', 'av01', 'Opus', 'mp4a', '.mp3', '')
  fc.assert(
    fc.property(
      kinds,
      fc.nat(0xffffffff),
      first,
      name,
      fc.uint8Array({ maxLength: 40 }),
      (kind, timestamp, byte, text, rest) => {
        const payload = Buffer.concat([Buffer.from([byte]), Buffer.from(text), rest])
        const packet = readPacket({ kind, timestamp, payload })
        if (packet === undefined) return
        expect(packet).toMatchObject({ kind, timestamp })
        expect(packet.data.length).toBeGreaterThan(0)
        expect(packet.data.buffer).toBe(payload.buffer)
        expect(packet.data.byteOffset + packet.data.length).toBe(payload.byteOffset + payload.length)
      },
    ),
    { numRuns: runs(2000) },
  )
})
