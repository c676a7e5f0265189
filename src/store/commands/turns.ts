import type { Transaction } from '../database.ts'
import { sql, storeClock } from '../sql/tag.ts'

/**
 * Acquires or renews a lease on work that only one process should do at a time. It lasts `seconds` from now: the holder
 * renews it before it ends, and if the holder dies, another process gets it. All processes ask for the same duration, so a
 * lease that ends later than one starting now was taken before the clock was set back, and is ignored.
 */
export async function takeTurn(
  tx: Transaction,
  args: { name: string; holder: string; seconds: number },
): Promise<boolean> {
  const until = sql`${storeClock} + cast(${args.seconds * 1000} as bigint)`
  const taken = await tx.run(
    sql`insert into turns (name, holder, until) values (${args.name}, ${args.holder}, ${until})
        on conflict (name) do update set holder = excluded.holder, until = excluded.until
        where turns.holder = excluded.holder or turns.until < ${storeClock} or turns.until > excluded.until`,
  )
  return taken > 0
}
