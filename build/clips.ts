/**
 * `npm run clips`: renders the clips that the demo plays, src/demo/clips/*.mp4, from the landscapes of src/images. Needs ffmpeg
 * with x264. Each is a fragmented MP4: what all of it shares, and a fragment of 2 s per key frame. The results are committed,
 * because neither a user nor a build needs ffmpeg then.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MOVING_SCENES } from '../src/images/moving/moving-scenes.ts'
import type { Raster } from '../src/images/raster.ts'
import { rasterize } from '../src/images/raster.ts'
import { drawMovingScene, type MovingScene } from '../src/images/scene.ts'
import { loopedSound, SAMPLE_RATE } from './clip-sound.ts'

const OUT = join(import.meta.dir, '../src/demo/clips')
const SECONDS = 12
const SEGMENT_SECONDS = 2
const RATE = 15
const FRAMES = SECONDS * RATE
const AAC_FRAMES = (SECONDS * SAMPLE_RATE) / 1024
/** Drawn in twice the size, because edges that move need more steps than a palette has. */
const DRAWN = { width: 1280, height: 720 }

const folder = mkdtempSync(join(tmpdir(), 'strand-clips-'))
mkdirSync(OUT, { recursive: true })
try {
  for (const [name, scene] of Object.entries(MOVING_SCENES)) await renderClip(name, scene)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function renderClip(name: string, scene: MovingScene): Promise<void> {
  const [video, sound, out] = [join(folder, 'video.mp4'), join(folder, 'sound.m4a'), join(OUT, `${name}.mp4`)]
  await encodeVideo(scene, video)
  await encodeSound(name, sound)
  const inputs = ['-i', video, '-i', sound]
  const copied = '-map 0:v -map 1:a -c copy -map_metadata -1 -fflags +bitexact -video_track_timescale 90000'
  const fragmented = '-f mp4 -movflags +frag_keyframe+empty_moov+default_base_moof+skip_trailer'
  await ffmpeg([...inputs, ...copied.split(' '), ...fragmented.split(' '), out])
  console.log(`${out}: ${(statSync(out).size / 1024).toFixed(0)} KiB`)
}

/** Without B-frames, so that decode and display times are the same. One thread, so that the result is always the same. */
async function encodeVideo(scene: MovingScene, out: string): Promise<void> {
  const { width, height } = DRAWN
  const raw = `-f rawvideo -pix_fmt rgb24 -s ${width}x${height} -r ${RATE} -i pipe:0`
  const colours = '-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv'
  const filter = '-vf scale=640:360:flags=area:out_color_matrix=bt709,format=yuv420p'
  const codec = '-c:v libx264 -preset veryslow -tune animation -crf 37 -bf 0 -level 3.1 -threads 1'
  const group = SEGMENT_SECONDS * RATE
  const groups = `-g ${group} -keyint_min ${group} -sc_threshold 0`
  // Without the text of the encoder about itself.
  const output = '-bsf:v filter_units=remove_types=6 -video_track_timescale 90000'
  const encoder = start([...[raw, filter, colours, codec, groups, output].join(' ').split(' '), out])
  for (let frame = 0; frame < FRAMES; frame++) {
    const picture = drawMovingScene(scene, frame / FRAMES)
    encoder.stdin.write(toRgb(await rasterize(picture, DRAWN.width, DRAWN.height, async () => undefined)))
    await encoder.stdin.flush()
  }
  await encoder.stdin.end()
  await finish(encoder)
}

function toRgb({ width, height, palette, rows }: Raster): Uint8Array {
  const rgb = new Uint8Array(width * height * 3)
  let to = 0
  for (let y = 0; y < height; y++)
    for (let x = 1; x <= width; x++) {
      const from = (rows[y * (width + 1) + x] as number) * 3
      rgb[to++] = palette[from] as number
      rgb[to++] = palette[from + 1] as number
      rgb[to++] = palette[from + 2] as number
    }
  return rgb
}

/** Encoded three times in a row, of which the middle one is kept: it begins with what an end leaves in a decoder. */
async function encodeSound(name: string, out: string): Promise<void> {
  const once = Int16Array.from(loopedSound(name, SECONDS), sample => Math.round(sample * 32_767))
  const thrice = new Int16Array(once.length * 3)
  for (const turn of [0, 1, 2]) thrice.set(once, turn * once.length)
  const encoded = join(folder, 'thrice.aac')
  const raw = `-f s16le -ar ${SAMPLE_RATE} -ac 2 -i pipe:0 -c:a aac -ac 1 -b:a 16k -f adts`
  const encoder = start([...raw.split(' '), encoded])
  encoder.stdin.write(thrice)
  await encoder.stdin.end()
  await finish(encoder)
  const frames = splitAdts(await Bun.file(encoded).bytes())
  // The encoder is one frame late.
  const kept = join(folder, 'once.aac')
  await Bun.write(kept, Buffer.concat(frames.slice(AAC_FRAMES + 1, 2 * AAC_FRAMES + 1)))
  // A fragmented file begins with the description of its codecs, which this form has only inside of frames.
  await ffmpeg(['-i', kept, ...'-c copy -bsf:a aac_adtstoasc'.split(' '), out])
}

/** The frames of an AAC file: the header of each has its length. */
function splitAdts(bytes: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const [a, b, c] = bytes.subarray(at + 3, at + 6) as unknown as [number, number, number]
    const length = ((a & 3) << 11) | (b << 3) | (c >> 5)
    frames.push(bytes.subarray(at, at + length))
    at += length
  }
  return frames
}

type Encoder = ReturnType<typeof start>

function start(args: readonly string[]) {
  return Bun.spawn(['ffmpeg', '-v', 'error', '-nostdin', '-y', ...args], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'inherit',
  })
}

async function finish(encoder: Encoder): Promise<void> {
  if ((await encoder.exited) !== 0) throw new Error('ffmpeg failed')
}

async function ffmpeg(args: readonly string[]): Promise<void> {
  const encoder = start(args)
  await encoder.stdin.end()
  await finish(encoder)
}
