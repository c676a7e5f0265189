/** What an encoder sends, as measured where it arrives. What is not known is absent. */
export interface EncoderStatus {
  readonly kilobits_per_second: number
  readonly frames_per_second: number
  readonly width?: number
  readonly height?: number
  /** As people call them: `H.264`, `AAC`. Absent if nothing of the kind has arrived lately. */
  readonly video_codec?: string
  readonly audio_codec?: string
  /** As players know them: `avc1.64001f`, `mp4a.40.2`. */
  readonly codecs?: readonly string[]
  /** Between the last two key frames, or since the last one if that is longer. */
  readonly key_frame_seconds?: number
  /** Frames that the declared frame rate promises and that did not come, of 100. */
  readonly missing_frames_percent?: number
}
