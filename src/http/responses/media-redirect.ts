import type { RequestContext } from '../request-context.ts'

export interface MediaNode {
  /** Where viewers reach this node and no other. */
  readonly mediaUrl: string | undefined
}

/** The address of a file on another media server, rather than of a node. */
export const isFileUrl = (url: string): boolean =>
  /\.(?:flv|mp4|m4v|mkv|mov|ts|webm|m3u8)$/i.test(URL.parse(url)?.pathname ?? '')

const MARK = 'redirected=1'

/**
 * Sends a viewer to the node that has the video, so that video passes through one machine only. A viewer is sent once: two
 * nodes that each take the other for the right one would send it to and fro. Undefined: there is no other node to try.
 *
 * The address is a setting of the other node, never part of a request.
 */
export function redirectTo(
  url: string,
  path: string,
  { mediaUrl }: MediaNode,
  { search }: RequestContext,
  headers: Readonly<Record<string, string>>,
): Response | undefined {
  if (url === '' || url === mediaUrl || search.split('&').includes(MARK)) return undefined
  const location = `${url}${path}${path.includes('?') ? '&' : '?'}${MARK}`
  return new Response(null, { status: 307, headers: { ...headers, Location: location } })
}
