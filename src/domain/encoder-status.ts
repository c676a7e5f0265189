/** What an encoder sends, as measured where it arrives. What is not known is absent. */
export interface EncoderStatus {
  readonly kilobits_per_second: number
  readonly frames_per_second: number
  readonly width?: number
  readonly height?: number
  /** As people call them: `H.264`, `AAC`. */
  readonly video_codec?: string
  readonly audio_codec?: string
  /** As players know them: `avc1.64001f`, `mp4a.40.2`. */
  readonly codecs?: readonly string[]
}
