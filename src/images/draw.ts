import type { ImageKind } from '../contract/image-urls.ts'
import { assertDefined } from '../kit/assert-defined.ts'
import { SeededRandom } from '../kit/random.ts'
import { drawAvatar } from './avatar.ts'
import { MOVING_SCENES } from './moving/moving-scenes.ts'
import type { Picture } from './picture.ts'
import { drawPoster } from './poster.ts'
import { drawMovingScene, drawScene } from './scene.ts'

const DRAW = { users: drawAvatar, games: drawPoster, channels: drawScene, videos: drawScene } as const

/** Every hue except olive, which looks like mud when it is dark. */
const FIRST_HUE = 130
const HUES = 315

/** The picture of an id: the same at any time and on every node. A user and the channel of the user have the same hue. */
export function draw(kind: ImageKind | 'scenes', id: string): Picture {
  if (kind === 'scenes') return drawMoment(id)
  const hue = FIRST_HUE + new SeededRandom(Bun.hash.crc32(id)).next() * HUES
  return DRAW[kind](hue, new SeededRandom(Bun.hash.crc32(`${kind}/${id}`)))
}

/** A moment of a scene that moves: `harbour-50` is the middle of its loop. */
function drawMoment(id: string): Picture {
  const [name = '', moment] = id.split('-')
  return drawMovingScene(assertDefined(MOVING_SCENES[name], `the scene ${name}`), Number(moment) / 100)
}
