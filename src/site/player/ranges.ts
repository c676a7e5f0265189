import type mpegts from 'mpegts.js'

/** Known when the metadata has arrived. */
export interface FileSize {
  bytes: number
}

/** The size of the last tag, at the end of the file. It is no tag, so it may be read twice. */
const TRAILER_BYTES = 4

/**
 * Seeking by range requests. Loading pauses when enough is buffered, even if that was everything; it then continues at the
 * end of the file, for which a server has no range. What is asked for instead is the trailer.
 */
export function rangesWithin(file: FileSize): mpegts.CustomSeekHandlerConstructor {
  return class implements mpegts.SeekHandler {
    getConfig(url: string, { from, to }: mpegts.Range): mpegts.SeekConfig {
      const first = Math.min(from, file.bytes - TRAILER_BYTES)
      return { url, headers: first === 0 ? {} : { Range: `bytes=${first}-${to === -1 ? '' : to}` } }
    }

    removeURLParameters(url: string): string {
      return url
    }
  }
}
