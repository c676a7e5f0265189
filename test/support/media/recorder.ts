/** Records what a publisher in a test sends, without a server: messages, packager, recording. */
import { Packager } from '../../../src/media/hls/packager.ts'
import { MediaMemory } from '../../../src/media/media-memory.ts'
import { readPacket } from '../../../src/media/packet.ts'
import type { Recording, RecordingOptions } from '../../../src/media/recording/recording.ts'
import { RecordingReceiver } from '../../../src/media/recording/recording-receiver.ts'
import { RecordingSpace } from '../../../src/media/recording/recording-space.ts'
import type { MediaMessage } from '../../../src/media/rtmp/publisher.ts'
import { AAC, AVC, audio, video } from './codecs.ts'

export const recordingOptions = (
  file: string,
  more: Partial<RecordingOptions> = {},
): RecordingOptions & { readonly events: string[] } => {
  const events: string[] = []
  return {
    ...{ file, maxBytes: 1e9, events, retryMilliseconds: 0 },
    space: new RecordingSpace('/nowhere'),
    onPause: reason => events.push(reason),
    onResume: () => events.push('resumed'),
    ...more,
  }
}

/** A publisher whose broadcast is recorded. The clock of the stream is where the test sets it. */
export class RecordedPublisher {
  readonly #packager: Packager
  position: number

  constructor(recording: Recording, position = 0) {
    this.position = position
    const memory = new MediaMemory(1e9)
    this.#packager = new Packager({ memory, onTooLarge: () => undefined })
    const receiver = new RecordingReceiver(() => this.position)
    receiver.begin(recording)
    this.#packager.attach(receiver)
  }

  publish(...messages: readonly MediaMessage[]): void {
    for (const message of messages) {
      const packet = readPacket(message)
      if (packet !== undefined) this.#packager.publish(packet)
    }
  }

  /** Sends seconds of video at 25 frames a second with key frames every second, and sound; the clock goes with it. */
  play(
    seconds: number,
    {
      from = 0,
      header = AVC.header,
      bytes = 60,
      bFrames = false,
      hasSound = true,
    }: { from?: number; header?: Uint8Array; bytes?: number; bFrames?: boolean; hasSound?: boolean } = {},
  ): this {
    const start = this.position
    this.publish(video(from, header))
    if (hasSound) this.publish(audio(from, AAC.header))
    let sounds = Math.ceil((from * 44.1) / 1024)
    for (let frame = 0; frame < seconds * 25; frame++) {
      const time = frame * 40
      this.position = start + time
      const offset = bFrames ? [40, 120, 40, 0][frame % 4] : 0
      this.publish(
        video(from + time, frame % 25 === 0 ? AVC.keyFrame(bytes, offset) : AVC.frame(bytes, offset)),
      )
      for (; hasSound && (sounds * 1024) / 44.1 < from + time + 40; sounds++)
        this.publish(audio(Math.round((sounds * 1024) / 44.1), AAC.frame()))
    }
    this.position = start + seconds * 1000
    return this
  }

  end(): void {
    this.#packager.end()
  }
}
