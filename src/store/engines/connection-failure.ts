/** Why a PostgreSQL server could not be used, in one sentence that says what to do. No secret is in it. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** What the client of the runtime throws, as far as it matters here. */
interface ClientError {
  readonly code?: string | undefined
  /** The SQLSTATE, for what the server itself said. */
  readonly errno?: string | number | undefined
  readonly message: string
}

interface ConnectionTarget {
  readonly host: string
  readonly role: string
  readonly database: string
}

function targetOf(url: string): ConnectionTarget {
  const { hostname, username, pathname } = new URL(url)
  const role = decodeURIComponent(username)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    role,
    database: decodeURIComponent(pathname.slice(1)) || role,
  }
}

/** Pure, but for `isUnknownHost`: the client reports an unknown host and a closed port alike. */
export function explainConnection(
  { code = '', errno, message }: ClientError,
  { host, role, database }: ConnectionTarget,
  isUnknownHost: boolean,
): string {
  switch (String(errno ?? '')) {
    case '28P01':
      return `the password is wrong, or role "${role}" does not exist: check both in DATABASE_URL`
    case '28000':
      return explainRefusal(message, role, database)
    case '3D000':
      return `database "${database}" does not exist: create it, or correct its name in DATABASE_URL`
    case '42501':
      return `role "${role}" may not connect to database "${database}": grant it CONNECT`
    case '53300':
      return 'it has no connections left: raise max_connections there, or lower STRAND_DATABASE_CONNECTIONS'
    case '57P03':
      return 'it is starting up, shutting down or recovering: wait, or see its log'
  }
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE')
    return 'it does not offer TLS, which DATABASE_URL demands: turn ssl on there, or change sslmode'
  if (/TLS|SSL|CERT/.test(code) || /certificate|self.signed/i.test(message))
    return `TLS with it failed (${message}): check its certificate and sslmode in DATABASE_URL`
  if (isUnknownHost)
    return `the host name "${host}" cannot be resolved: correct it in DATABASE_URL, or check DNS`
  if (code === 'ERR_POSTGRES_CONNECTION_REFUSED')
    return 'the connection was refused: check that it runs, and host and port in DATABASE_URL'
  if (/TIMEOUT/.test(code)) return NO_ANSWER
  if (code === 'ERR_POSTGRES_CONNECTION_FAILED' || code === 'ERR_POSTGRES_CONNECTION_CLOSED')
    return 'it closed the connection: check that PostgreSQL listens there, and its log'
  return message
}

export const NO_ANSWER = 'it does not answer in time: check that it runs, and firewalls on the way'

function explainRefusal(message: string, role: string, database: string): string {
  if (/does not exist/.test(message))
    return `role "${role}" does not exist: create it, or correct its name in DATABASE_URL`
  if (/not permitted to log in/.test(message))
    return `role "${role}" may not log in: run ALTER ROLE ... LOGIN`
  if (!/pg_hba\.conf/.test(message)) return message
  const refused = `its pg_hba.conf does not let role "${role}" into database "${database}"`
  return /no encryption/.test(message)
    ? `${refused} without TLS: add a line there, or set sslmode=require in DATABASE_URL if only TLS is allowed`
    : `${refused} from this machine: add a line there`
}

/** Whether the name of a host means nothing to this machine. */
async function isUnknownHost(host: string): Promise<boolean> {
  if (host === '' || isIP(host) !== 0) return false
  return lookup(host).then(
    () => false,
    () => true,
  )
}

/** The sentence about an error of connecting to the server at a URL. */
export async function connectionFailure(error: unknown, url: string): Promise<string> {
  const target = targetOf(url)
  const thrown = error as ClientError
  const mayBeUnknown = thrown.code === 'ERR_POSTGRES_CONNECTION_REFUSED'
  return explainConnection(thrown, target, mayBeUnknown && (await isUnknownHost(target.host)))
}
