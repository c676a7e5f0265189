import { expect, test } from 'bun:test'
import { migrations } from '../../src/store/schema/index.ts'
import { sqliteDialect } from '../../src/store/sql/dialects.ts'
import { WORLD_TABLES } from '../../src/store/tables.ts'

/**
 * What stays when a demo is reset: the tables of the schema, the feed, which is reset another way, and the keys that sign ID tokens,
 * which applications have cached.
 */
const KEPT = ['schema_versions', 'feed', 'feed_head', 'signing_keys']

test('a reset of the demo empties every table of the schema', () => {
  const text = migrations.map(migration => migration.text(sqliteDialect)).join('\n')
  const made = new Set<string>()
  for (const [, verb, name = ''] of text.matchAll(/(create|drop) table (?:if (?:not )?exists )?(\w+)/g)) {
    if (verb === 'create') made.add(name)
    else made.delete(name)
  }
  expect([...made].filter(name => !KEPT.includes(name)).toSorted()).toEqual([...WORLD_TABLES].toSorted())
})
