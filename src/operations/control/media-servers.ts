import { hashToken, mintSecret } from '../../auth/tokens.ts'
import {
  deleteMediaServer,
  getMediaServer,
  listMediaServers,
  putMediaServer,
  rotateMediaServerSecret,
} from '../../contract/control/media-servers.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { mediaServerSortKey } from '../../store/queries/media-servers.ts'
import { answerOne, answerPage, implement } from '../implement.ts'

const OVERLAP_SECONDS = 3600

export const handlePutMediaServer = implement(putMediaServer, async ({ params, body }, { store, clock }) => {
  if (body.api_url && !isPlainUrl(body.api_url))
    return refuse(
      'refused_reference',
      'The parameter "api_url" must be a URL without user, query and fragment.',
    )
  if (body.playback_url && !URL.canParse(body.playback_url, 'http://localhost'))
    return refuse(
      'refused_reference',
      'The parameter "playback_url" must be a URL with a valid host and port.',
    )
  const secret = mintSecret('media')
  const created_at = isoMillis(clock.now())
  const secret_hash = hashToken(secret)
  const put = await store.commands.putMediaServer({ ...params, ...body, secret_hash, created_at })
  return isRefusal(put) ? put : { data: [{ ...put.server, ...(put.isNew && { secret }) }] }
})

/** Whether a URL has no credentials, query or fragment: credentials in it would be stored and shown in plain text. */
function isPlainUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && [url.username, url.password, url.search, url.hash].every(part => part === '')
}

export const handleGetMediaServer = implement(getMediaServer, async ({ params: { name } }, { store }) =>
  answerOne((await store.mediaServers.find(name)) ?? refuse('name_not_found', 'media server', name)),
)

export const handleListMediaServers = implement(listMediaServers, async ({ window, paginate }, { store }) =>
  answerPage(await store.mediaServers.page(window), mediaServerSortKey, paginate),
)

export const handleRotateMediaServerSecret = implement(
  rotateMediaServerSecret,
  async ({ params: { name }, body }, { store, clock }) => {
    const secret = mintSecret('media')
    const previous_until = clock.now() + (body.grace_seconds ?? OVERLAP_SECONDS) * 1000
    const rotation = { name, secret_hash: hashToken(secret), previous_until }
    const server = await store.commands.rotateMediaServerSecret(rotation)
    return isRefusal(server) ? server : { data: [{ ...server, secret }] }
  },
)

export const handleDeleteMediaServer = implement(deleteMediaServer, ({ params }, { store }) =>
  store.commands.deleteMediaServer(params),
)
