import { existsSync } from 'node:fs'
import { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import { masterKeyPath, readMasterKeys, storeFilePath } from '../../config/data-folder.ts'
import { KeyRing } from '../../kit/crypto/key-ring.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import {
  addMasterKey,
  countSealed,
  countToReseal,
  promoteMasterKey,
  reseal,
  retireMasterKey,
  STREAM_KEY_KINDS,
  TAKEN_UP_MILLISECONDS,
} from '../../maintenance/key-rotation.ts'
import { readStoreConfig, type StoreFlags, storeFlags, withStore } from '../store-flags.ts'
import { requireConfirmation } from '../terminal/confirm.ts'
import { counted, print, printResult } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'

const MAX_NAMED = 10

interface KeyRingFlags extends StoreFlags {
  readonly json?: boolean
  readonly yes?: boolean
}

/** A subcommand of key-ring; `more` is printed after its flags in help. */
function keyRingCommandFor(usage: string, description: string, more: string): Command {
  return storeFlags(new Command(usage))
    .description(description)
    .option('--json', 'print the result as one line of JSON')
    .addHelpText('after', more)
}

export const keyRingCommand = new Command('key-ring')
  .description('manage the master keys that seal stream keys, signing keys and webhook secrets')
  .addCommand(
    keyRingCommandFor(
      'list',
      'list the ids of the master keys, newest first, and how many keys each has sealed',
      '\nExamples:\n  strand key-ring list\n  strand key-ring list --data /var/lib/strand --json',
    ).action(runList),
  )
  .addCommand(
    keyRingCommandFor(
      'add',
      'add a new master key; running servers load it and then seal with it',
      `
The new key is added at the end of the ring, so that every server can open what it seals, and moved to the front a few
seconds later. Run strand key-ring reseal next.

Examples:
  strand key-ring add
  strand key-ring add --data /var/lib/strand`,
    ).action(runAdd),
  )
  .addCommand(
    keyRingCommandFor(
      'promote',
      'seal with a master key that is already in the ring, after an interrupted add',
      '\nExamples:\n  strand key-ring promote Ab3dE9xK',
    )
      .argument('<id>', 'id of the key')
      .action(runPromote),
  )
  .addCommand(
    keyRingCommandFor(
      'reseal',
      'seal all stream keys, signing keys and webhook secrets with the newest master key; servers keep running',
      `
If it is interrupted, run it again: it continues.

Examples:
  strand key-ring reseal
  DATABASE_URL=postgres://strand@db/strand strand key-ring reseal`,
    ).action(runReseal),
  )
  .addCommand(
    keyRingCommandFor(
      'retire',
      'remove a master key from the ring; refused while anything is sealed with it',
      `
Older backups need the key: keep it with them. Cursors of lists that were started with it become invalid.

Examples:
  strand key-ring retire Ab3dE9xK --yes`,
    )
      .argument('<id>', 'id of the key')
      .option('--yes', 'do not ask for confirmation')
      .action(runRetire),
  )
  .addCommand(
    keyRingCommandFor(
      'drop-signing-keys',
      'delete the keys that sign ID tokens, after a theft; servers create a new one',
      `
Signing keys are replaced every 90 days without this command. Servers stop using and publishing the old ones within a
minute, and caches keep the list for five. Users stay logged in to applications; log-ins in progress may have to be repeated.

Examples:
  strand key-ring drop-signing-keys --yes`,
    )
      .option('--yes', 'do not ask for confirmation')
      .action(runDropSigningKeys),
  )

async function runList(flags: KeyRingFlags): Promise<void> {
  const config = readSettings(flags)
  const ring = openRing(config)
  const sealed = await withStore(config, countSealed)
  const used = new Set(Object.values(sealed).flatMap(counts => [...counts.keys()]))
  const missing = [...used].filter(id => !ring.ids.includes(id))
  const keys = [...ring.ids, ...missing].map(id => {
    return {
      id,
      newest: id === ring.newest,
      in_ring: ring.ids.includes(id),
      stream_keys: sealed['stream key'].get(id) ?? 0,
      signing_keys: sealed['signing key'].get(id) ?? 0,
      webhook_secrets: sealed['webhook secret'].get(id) ?? 0,
    }
  })
  if (flags.json) return print(`${JSON.stringify({ keys })}\n`)
  const lines = keys.map(({ id, newest, in_ring, stream_keys, signing_keys, webhook_secrets }) => {
    const remark = newest ? '  seals' : in_ring ? '' : '  MISSING'
    const signs = signing_keys > 0 ? `, ${counted(signing_keys, 'signing key')}` : ''
    const webhooks = webhook_secrets > 0 ? `, ${counted(webhook_secrets, 'webhook secret')}` : ''
    return `${id.padEnd(33)}${counted(stream_keys, 'stream key').padStart(24)}${signs}${webhooks}${remark}\n`
  })
  await print(lines.join(''))
}

async function runAdd(flags: KeyRingFlags): Promise<void> {
  const file = keyFilePath(readSettings(flags))
  const id = addMasterKey(file)
  process.stderr.write(`Waiting ${TAKEN_UP_MILLISECONDS / 1000} s for running servers to load ${id}.\n`)
  await Bun.sleep(TAKEN_UP_MILLISECONDS)
  await promote(file, id, flags)
}

function runPromote(id: string, flags: KeyRingFlags): Promise<void> {
  return promote(keyFilePath(readSettings(flags)), id, flags)
}

async function promote(file: string, id: string, flags: KeyRingFlags): Promise<void> {
  promoteMasterKey(file, id)
  await Bun.sleep(TAKEN_UP_MILLISECONDS)
  await printResult(
    flags,
    { id },
    `The master key ${id} seals now. To seal older keys with it, run: strand key-ring reseal`,
  )
}

async function runReseal(flags: KeyRingFlags): Promise<void> {
  const config = readSettings(flags)
  const ring = openRing(config)
  const { resealed, unopened, signing, secrets } = await withStore(config, async store => {
    const progress = new Progress('Sealing', { unit: 'keys', total: await countToReseal(store, ring) })
    const outcome = await reseal(store, ring, STREAM_KEY_KINDS, done => progress.reach(done))
    progress.end()
    return {
      ...outcome,
      signing: await reseal(store, ring, ['signing_key']),
      secrets: await reseal(store, ring, ['webhook_secret']),
    }
  })
  await printResult(
    flags,
    {
      id: ring.newest,
      resealed,
      unopened,
      resealed_signing_keys: signing.resealed,
      unopened_signing_keys: signing.unopened,
      resealed_webhook_secrets: secrets.resealed,
      unopened_webhook_secrets: secrets.unopened,
    },
    `Sealed ${counted(resealed, 'stream key')}, ${counted(signing.resealed, 'signing key')} and ${counted(secrets.resealed, 'webhook secret')} with the master key ${ring.newest}.`,
  )
  const failures = [
    [unopened.length, 'stream key', `of users ${unopened.slice(0, MAX_NAMED).join(', ')}`],
    [signing.unopened.length, 'signing key', signing.unopened.join(', ')],
    [
      secrets.unopened.length,
      'webhook secret',
      `of subscriptions ${secrets.unopened.slice(0, MAX_NAMED).join(', ')}`,
    ],
  ] as const
  for (const [count, noun, which] of failures) {
    if (count === 0) continue
    throw new OperatorError(
      `${counted(count, noun)} cannot be opened, left unchanged (${which}): is a master key missing from the ring?`,
    )
  }
}

async function runRetire(id: string, flags: KeyRingFlags): Promise<void> {
  const config = readSettings(flags)
  const file = keyFilePath(config)
  await requireConfirmation(
    `Without the master key ${id}, older backups cannot be read. Retire it?`,
    flags.yes,
  )
  await withStore(config, store => retireMasterKey(store, file, id))
  await printResult(flags, { id }, `The master key ${id} is retired.`)
}

async function runDropSigningKeys(flags: KeyRingFlags): Promise<void> {
  const config = readSettings(flags)
  await requireConfirmation('Existing ID tokens become invalid. Delete the signing keys?', flags.yes)
  const removed = await withStore(config, store => store.commands.removeSigningKeys({}))
  await printResult(
    flags,
    { removed },
    `Deleted ${counted(removed, 'signing key')}. Servers create a new one within a minute.`,
  )
}

function readSettings(flags: StoreFlags): Config {
  const config = readStoreConfig(flags)
  const isMissing = config.databaseUrl === undefined && !existsSync(storeFilePath(config))
  if (readMasterKeys(config) === undefined || isMissing) {
    throw new OperatorError(`${config.dataFolder} is not the data folder of a server: give it with --data`)
  }
  return config
}

const openRing = (config: Config) => new KeyRing(readMasterKeys(config) ?? [])

/** The file with the keys. Throws if they come from a setting, which has to be changed there. */
function keyFilePath(config: Config): string {
  if (config.masterKeys === undefined) return masterKeyPath(config)
  throw new OperatorError(
    'the master keys come from STRAND_MASTER_KEYS: change them there and restart the nodes one by one (docs/backup.md)',
  )
}
