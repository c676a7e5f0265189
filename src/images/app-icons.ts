import { lazy } from '../kit/lazy.ts'
import { ICON } from '../kit/mark.ts'
import { drawAppIcon } from './app-icon.ts'
import { wrapInIco } from './ico.ts'
import { encodePng } from './png.ts'
import { rasterize } from './raster.ts'
import { encodeSvg } from './svg.ts'

export interface AppIcon {
  readonly type: string
  /** Drawn once, on first use. */
  readonly file: () => Promise<Uint8Array<ArrayBuffer> | string>
}

const FAVICON_SIDE = 32
const APPLE_SIDE = 180

const png = (side: number): AppIcon => ({ type: 'image/png', file: lazy(() => renderPng(side)) })
const svg = (text: () => string): AppIcon => ({ type: 'image/svg+xml', file: lazy(async () => text()) })

async function renderPng(side: number): Promise<Uint8Array<ArrayBuffer>> {
  return encodePng(await rasterize(drawAppIcon(), side, side, () => Bun.sleep(0)))
}

/** By path. Browsers ask for some of these names without a link. */
export const APP_ICONS: Readonly<Record<string, AppIcon>> = {
  '/favicon.svg': svg(() => ICON),
  '/favicon.ico': {
    type: 'image/vnd.microsoft.icon',
    file: lazy(async () => wrapInIco(await renderPng(FAVICON_SIDE), FAVICON_SIDE)),
  },
  '/apple-touch-icon.png': png(APPLE_SIDE),
  '/icon.svg': svg(() => encodeSvg(drawAppIcon(), 512, 512)),
  '/icon-192.png': png(192),
  '/icon-512.png': png(512),
}
