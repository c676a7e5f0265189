/**
 * A connection URL may list several hosts, as in libpq: `postgres://user@one:5432,two,three:5433/strand`. The runtime's
 * client supports one host per URL, so the URL is split.
 */
const SHAPE = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)(.*)$/

export function hostUrls(url: string): string[] {
  const [, scheme = '', account = '', hosts = '', rest = ''] = SHAPE.exec(url) ?? []
  if (hosts === '') return [url]
  return hosts.split(',').map(host => withoutTarget(`${scheme}${account}${host}${rest}`))
}

/** Strand always looks for the writable server, and the server does not know this parameter. */
function withoutTarget(url: string): string {
  return url.replace(/([?&])target_session_attrs=[^&]*(&|$)/, (_, before, after) =>
    after === '' ? '' : before,
  )
}

/** The host and port of a URL without credentials, for logs. */
export function hostIn(url: string): string {
  return SHAPE.exec(url)?.[3] ?? ''
}
