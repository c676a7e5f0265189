import { lazily } from '../kit/lazily.ts'
import { bundlePlayer } from './player-bundle.ts'

/** A script that pages load, under a name that changes with its content. */
export interface Script {
  readonly path: string
  readonly text: string
  readonly gzipped: Uint8Array<ArrayBuffer>
}

/** The script of the player; bundled on first use. */
export const playerScript: () => Promise<Script> = lazily(async () => {
  const text = await bundlePlayer()
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `/assets/player-${hash}.js`, text, gzipped: Bun.gzipSync(text, { level: 9 }) }
})
