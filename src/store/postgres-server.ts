/** The state that PostgreSQL servers report about themselves, whether they serve this store or not. */
import { hostIn, hostUrls } from '../kit/connection-url.ts'
import { connectionFailure } from './postgres/connection-failure.ts'
import { examinePostgres, type PostgresState } from './postgres/postgres-examination.ts'

export type { PostgresState }

export type ServerReport = { readonly host: string } & (
  | { readonly state: PostgresState }
  | { readonly failure: string }
)

/** Queries every server that the URL names. */
export function queryServers(url: string): Promise<ServerReport[]> {
  return Promise.all(
    hostUrls(url).map(each =>
      examinePostgres(each).then(
        state => ({ host: hostIn(each), state }),
        async (error: Error) => ({ host: hostIn(each), failure: await connectionFailure(error, each) }),
      ),
    ),
  )
}
