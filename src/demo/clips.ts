/** The clips by the name of their scene (`images/moving/moving-scenes.ts`), and which channel has which. */
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lazy } from '../kit/lazy.ts'
import { type Clip, readClip } from './clip.ts'
import aurora from './clips/aurora.mp4' with { type: 'file' }
import harbour from './clips/harbour.mp4' with { type: 'file' }
import journey from './clips/journey.mp4' with { type: 'file' }
import meadow from './clips/meadow.mp4' with { type: 'file' }
import metropolis from './clips/metropolis.mp4' with { type: 'file' }
import summit from './clips/summit.mp4' with { type: 'file' }

const FILES = { harbour, metropolis, summit, meadow, aurora, journey } as const

export type ClipName = keyof typeof FILES

export const CLIP_NAMES = Object.keys(FILES) as ClipName[]

const clips = Object.fromEntries(
  CLIP_NAMES.map(name => [name, lazy(async () => readClip(await Bun.file(locate(FILES[name])).bytes()))]),
) as Record<ClipName, () => Promise<Clip>>

/** Read when it is first played. */
export const loadClip = (name: ClipName): Promise<Clip> => clips[name]()

/** The path of a file: the bundle of the package has it beside the program. */
function locate(file: string): string {
  return isAbsolute(file) ? file : fileURLToPath(new URL(file, import.meta.url))
}

/** The same at any time: the picture of a channel, its broadcasts and its videos show one scene. */
export function clipForChannel(user_id: string): ClipName {
  return CLIP_NAMES[Bun.hash.crc32(`clip/${user_id}`) % CLIP_NAMES.length] as ClipName
}
