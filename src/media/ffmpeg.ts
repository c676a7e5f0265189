/**
 * ffmpeg as a decoder of single key frames. Its input comes from publishers, so it may be hostile: ffmpeg gets it through a
 * pipe, may open nothing else, knows few decoders, and has bounds on time, memory and output. It runs without our
 * environment, which may hold secrets.
 */
import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { Stream } from 'node:stream'

/** The sizes that a key frame is decoded to, smallest first. */
export const THUMBNAIL_SIZES = [
  { width: 320, height: 180 },
  { width: 640, height: 360 },
  { width: 1280, height: 720 },
] as const

const MAX_MILLISECONDS = 10_000
/** Maximum size of one file. A photograph in the largest size has about a tenth of it. */
const MAX_FILE_BYTES = 1024 * 1024
/** Of the picture that is decoded: 4096x2304. */
const MAX_PIXELS = 4096 * 2304
/** Maximum size of one allocation of ffmpeg. */
const MAX_ALLOCATION_BYTES = 256 * 1024 * 1024
/**
 * The system ends it when it takes more address space or processor time. Only a shell can set these limits for a program
 * that it becomes; it gets no text from outside, and systems without such a limit go on without it.
 */
const LIMITED = 'ulimit -v 524288 2>/dev/null; ulimit -t 10 2>/dev/null; exec "$0" "$@"'
/** What the shell ends with if there is no program to become. */
const NOT_RUN = new Map([
  [126, 'cannot be run: EACCES'],
  [127, 'cannot be run: ENOENT'],
])
const MAX_MESSAGE_BYTES = 4096
const MAX_REASON = 200
/** What a broadcast may consist of (`packet.ts`). */
const DECODERS = 'h264,hevc,av1,libdav1d,libaom-av1'
/** Standard input, output and error come first, so the first size is written to 1 and the others to 3, 4... */
const FIRST_EXTRA_PIPE = 3

const pipeNumber = (index: number) => (index === 0 ? 1 : FIRST_EXTRA_PIPE + index - 1)

/** Reads MP4 from its standard input, and writes a JPEG of each size to a pipe. */
export function ffmpegArguments(): string[] {
  const inputs = THUMBNAIL_SIZES.map((_, index) => `[in${index}]`).join('')
  const scaled = THUMBNAIL_SIZES.map(
    ({ width, height }, index) =>
      `[in${index}]scale=${width}:${height}:force_original_aspect_ratio=decrease,pad=${width}:${height}:-1:-1,setsar=1[out${index}]`,
  )
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-max_alloc', String(MAX_ALLOCATION_BYTES)],
    ...['-protocol_whitelist', 'pipe', '-codec_whitelist', DECODERS],
    // Every thread takes address space, also of the filters and of each output.
    ...['-filter_threads', '1', '-filter_complex_threads', '1'],
    ...['-threads', '1', '-max_pixels', String(MAX_PIXELS), '-f', 'mp4', '-i', 'pipe:0'],
    ...['-filter_complex', [`[0:v]split=${THUMBNAIL_SIZES.length}${inputs}`, ...scaled].join(';')],
    ...THUMBNAIL_SIZES.flatMap((_, index) => [
      ...[
        '-map',
        `[out${index}]`,
        '-frames:v',
        '1',
        '-threads',
        '1',
        '-q:v',
        '4',
        '-f',
        'mjpeg',
        `pipe:${pipeNumber(index)}`,
      ],
    ]),
  ]
}

/** The content of a file. */
export type Jpeg = Buffer<ArrayBuffer>

/** A key frame that is being decoded. */
export interface Decoding {
  /** A JPEG of each size. Rejects with a reason for the log. */
  readonly files: Promise<readonly Jpeg[]>
  kill(): void
}

export function decodeKeyFrame(program: string, file: Uint8Array): Decoding {
  const [command, words] = limited(program, ffmpegArguments())
  const child = spawn(command, words, {
    env: {},
    stdio: ['pipe', 'pipe', 'pipe', ...THUMBNAIL_SIZES.slice(1).map(() => 'pipe' as const)],
  })
  let reason: string | undefined
  const end = (why: string) => {
    reason ??= why
    child.kill('SIGKILL')
  }
  const timer = setTimeout(() => end(`took more than ${MAX_MILLISECONDS} ms`), MAX_MILLISECONDS)
  const files = new Promise<readonly Jpeg[]>((resolve, reject) => {
    child.once('error', error => {
      reject(new Error(`cannot be run: ${(error as { code?: string }).code ?? error.message}`))
    })
    const collected = THUMBNAIL_SIZES.map((_, index) =>
      collect(child.stdio[pipeNumber(index)], MAX_FILE_BYTES, () => end('wrote too much')),
    )
    const messages = collect(child.stderr, MAX_MESSAGE_BYTES)
    child.once('close', (code, signal) => {
      const made = collected.map(each => each())
      if (reason === undefined && code === 0 && made.every(isJpeg)) resolve(made)
      else {
        const otherwise = code === 0 ? 'wrote no picture' : `ended with ${code ?? signal}`
        const unrunnable = NOT_RUN.get(code ?? 0)
        reject(new Error(reason ?? unrunnable ?? readable(messages().toString()) ?? otherwise))
      }
    })
  }).finally(() => clearTimeout(timer))
  // Before it gets its input, and with it reasons to start threads, which inherit the priority.
  yieldTo(child.pid)
  // It may stop reading when it has seen enough; its exit code counts.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(file)
  return { files, kill: () => end('was stopped') }
}

function limited(program: string, words: string[]): [command: string, words: string[]] {
  return process.platform === 'win32' ? [program, words] : ['/bin/sh', ['-c', LIMITED, program, ...words]]
}

/** Everything else on the machine matters more than a thumbnail. */
function yieldTo(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already, or the system does not allow it.
  }
}

/** What the stream has sent so far, up to a maximum. There is no stream if the program could not be run. */
function collect(
  stream: Stream | null | undefined,
  maxBytes: number,
  onTooMuch: () => void = () => undefined,
): () => Jpeg {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on('error', () => undefined)
  stream?.on('data', (chunk: Buffer) => {
    const rest = maxBytes - bytes
    if (rest > 0) chunks.push(chunk.subarray(0, rest))
    if (chunk.length > rest) onTooMuch()
    bytes += chunk.length
  })
  return () => Buffer.concat(chunks)
}

function isJpeg(file: Jpeg): boolean {
  return file.length > 2 && file.readUInt16BE(0) === 0xffd8
}

/** The first line, without the address of an object in memory that ffmpeg puts in front. */
function readable(messages: string): string | undefined {
  const [first = ''] = messages.split('\n')
  const text = first.replace(/ @ 0x[0-9a-f]+/g, '').replaceAll(/[^\x20-\x7e]/g, '?')
  return text === '' ? undefined : text.slice(0, MAX_REASON)
}
