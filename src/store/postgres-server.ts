/** PostgreSQL as a server: what it says about itself, whether it serves us or not. */
import { hostIn, hostUrls } from '../kit/connection-url.ts'
import { connectionFailure } from './sql/connection-failure.ts'
import { examinePostgres, type PostgresState } from './sql/postgres-examination.ts'

export type { PostgresState }

export type Asked = { readonly host: string } & (
  | { readonly state: PostgresState }
  | { readonly failure: string }
)

/** Asks every server that the URL names. */
export function askServers(url: string): Promise<Asked[]> {
  return Promise.all(
    hostUrls(url).map(each =>
      examinePostgres(each).then(
        state => ({ host: hostIn(each), state }),
        async (error: Error) => ({ host: hostIn(each), failure: await connectionFailure(error, each) }),
      ),
    ),
  )
}
