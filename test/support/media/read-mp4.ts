/** MP4 as mediabunny reads it: a reader that we did not write. */
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputTrack } from 'mediabunny'

interface ReadSample {
  /** The time of display, in seconds. */
  readonly seconds: number
  readonly duration: number
  readonly isKey: boolean
  readonly data: Uint8Array
}

export interface ReadTrack {
  readonly kind: 'audio' | 'video'
  readonly codec: string | null
  readonly codecString: string | null
  readonly width?: number
  readonly height?: number
  readonly sampleRate?: number
  readonly channels?: number
  /** In decode order. */
  readonly samples: readonly ReadSample[]
}

export async function readMp4(...pieces: readonly Uint8Array[]): Promise<ReadTrack[]> {
  const input = new Input({ source: new BufferSource(Buffer.concat(pieces)), formats: ALL_FORMATS })
  const tracks = await input.getTracks()
  return Promise.all(tracks.map(readTrack))
}

async function readTrack(track: InputTrack): Promise<ReadTrack> {
  const samples: ReadSample[] = []
  const sink = new EncodedPacketSink(track)
  let packet = await sink.getFirstPacket()
  while (packet !== null) {
    const { timestamp, duration, type, data } = packet
    samples.push({ seconds: timestamp, duration, isKey: type === 'key', data: new Uint8Array(data) })
    packet = await sink.getNextPacket(packet)
  }
  const common = { codec: track.codec, codecString: await track.getCodecParameterString(), samples }
  if (track.isVideoTrack())
    return { kind: 'video', ...common, width: track.codedWidth, height: track.codedHeight }
  if (track.isAudioTrack())
    return { kind: 'audio', ...common, sampleRate: track.sampleRate, channels: track.numberOfChannels }
  throw new Error('neither audio nor video')
}
