/** Explains why a PostgreSQL server cannot be used and what to do, in one sentence without secrets. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** The fields that matter here of an error of the runtime's client. */
interface ClientError {
  readonly code?: string | undefined
  /** The SQLSTATE, if the error comes from the server. */
  readonly errno?: string | number | undefined
  readonly message: string
}

interface ConnectionTarget {
  readonly host: string
  readonly role: string
  readonly database: string
}

function describeTarget(url: string): ConnectionTarget {
  const { hostname, username, pathname } = new URL(url)
  const role = decodeURIComponent(username)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    role,
    database: decodeURIComponent(pathname.slice(1)) || role,
  }
}

/** `isUnknownHost` is an argument because the client reports an unknown host and a closed port alike. */
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
      return 'the server has no connections left: raise its max_connections, or lower STRAND_DATABASE_CONNECTIONS'
    case '57P03':
      return 'the server is starting up, shutting down or recovering: wait, or check its log'
  }
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE')
    return 'the server does not offer TLS, which DATABASE_URL requires: enable ssl on the server, or change sslmode'
  if (/TLS|SSL|CERT/.test(code) || /certificate|self.signed/i.test(message))
    return `the TLS handshake failed (${message}): check the certificate of the server and sslmode in DATABASE_URL`
  if (isUnknownHost)
    return `the host name "${host}" cannot be resolved: correct it in DATABASE_URL, or check DNS`
  if (code === 'ERR_POSTGRES_CONNECTION_REFUSED')
    return 'the connection was refused: check that the server is running, and host and port in DATABASE_URL'
  if (/TIMEOUT/.test(code)) return NO_ANSWER
  if (code === 'ERR_POSTGRES_CONNECTION_FAILED' || code === 'ERR_POSTGRES_CONNECTION_CLOSED')
    return 'the server closed the connection: check that it is PostgreSQL, and its log'
  return message
}

export const NO_ANSWER =
  'the server does not answer in time: check that it is running, and the firewalls on the way'

function explainRefusal(message: string, role: string, database: string): string {
  if (/does not exist/.test(message))
    return `role "${role}" does not exist: create it, or correct its name in DATABASE_URL`
  if (/not permitted to log in/.test(message))
    return `role "${role}" may not log in: run ALTER ROLE ... LOGIN`
  if (!/pg_hba\.conf/.test(message)) return message
  const refused = `pg_hba.conf does not allow role "${role}" to connect to database "${database}"`
  return /no encryption/.test(message)
    ? `${refused} without TLS: add an entry, or set sslmode=require in DATABASE_URL if only TLS is allowed`
    : `${refused} from this machine: add an entry`
}

/** Whether the host name cannot be resolved. */
async function isUnknownHost(host: string): Promise<boolean> {
  if (host === '' || isIP(host) !== 0) return false
  return lookup(host).then(
    () => false,
    () => true,
  )
}

/** Explains an error of connecting to the server of a URL. */
export async function connectionFailure(error: unknown, url: string): Promise<string> {
  const target = describeTarget(url)
  const thrown = error as ClientError
  const mayBeUnknown = thrown.code === 'ERR_POSTGRES_CONNECTION_REFUSED'
  return explainConnection(thrown, target, mayBeUnknown && (await isUnknownHost(target.host)))
}
