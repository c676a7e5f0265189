import type { AdapterName } from '../../contract/resources/media-server.ts'
import type { Adapter } from './adapter.ts'
import { generic } from './generic.ts'
import { mediamtx } from './mediamtx.ts'
import { nginxRtmp } from './nginx-rtmp.ts'
import { nodeMediaServer } from './node-media-server.ts'
import { srs } from './srs.ts'

export const adapters: Readonly<Record<AdapterName, Adapter>> = {
  'nginx-rtmp': nginxRtmp,
  mediamtx,
  srs,
  'node-media-server': nodeMediaServer,
  generic,
}
