/** Loaded before the program, it makes of it the next release: one more migration, and nothing else. */
import { type Migration, migrations } from '../../../src/store/schema/index.ts'
import { nextMigration } from './next-migration.ts'

;(migrations as Migration[]).push(nextMigration)
