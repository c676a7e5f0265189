/**
 * A connection URL may name several hosts, as libpq allows: `postgres://user@one:5432,two,three:5433/strand`. The client
 * of the runtime knows one host at a time, so each becomes a URL of its own.
 */
const SHAPE = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)(.*)$/

export function hostUrls(url: string): string[] {
  const [, scheme = '', account = '', hosts = '', rest = ''] = SHAPE.exec(url) ?? []
  if (hosts === '') return [url]
  return hosts.split(',').map(host => withoutTarget(`${scheme}${account}${host}${rest}`))
}

/** We always look for the one that can be written to; the server would not know the parameter. */
function withoutTarget(url: string): string {
  return url.replace(/([?&])target_session_attrs=[^&]*(&|$)/, (_, before, after) =>
    after === '' ? '' : before,
  )
}

/** The host and port of a URL, without the account: fit for a log. */
export function hostIn(url: string): string {
  return SHAPE.exec(url)?.[3] ?? ''
}
