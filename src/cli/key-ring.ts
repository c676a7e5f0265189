import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { masterKeyFileOf, readMasterKeys, storeFileOf } from '../data-folder.ts'
import { KeyRing } from '../kit/key-ring.ts'
import { OperatorError } from '../kit/operator-error.ts'
import {
  addMasterKey,
  countToReseal,
  promoteMasterKey,
  reseal,
  resealSigningKeys,
  retireMasterKey,
  TAKEN_UP_MILLISECONDS,
} from '../maintenance/key-rotation.ts'
import { openStore } from '../open-store.ts'
import { confirm } from './confirm.ts'
import { print } from './print.ts'
import { Progress } from './progress.ts'
import { type StoreFlags, storeFlags } from './store-flags.ts'

const MAX_NAMED = 10

const listCommand = storeFlags(new Command('list'))
  .description('show the master keys by name, newest first, and what each has sealed')
  .option('--json', 'print it as one line of JSON', false)
  .addHelpText(
    'after',
    '\nExamples:\n  strand key-ring list\n  strand key-ring list --data /var/lib/strand --json',
  )
  .action(runList)

const addCommand = storeFlags(new Command('add'))
  .description('make a new master key; servers that run take it up, and then seal with it')
  .option('--json', 'print its name as one line of JSON', false)
  .addHelpText(
    'after',
    `
First it is put behind the others, so that every server can open what it seals; some seconds later in front. Next, run
strand key-ring reseal.

Examples:
  strand key-ring add
  strand key-ring add --data /var/lib/strand`,
  )
  .action(runAdd)

const promoteCommand = storeFlags(new Command('promote'))
  .description('make a master key that is in the ring the one that seals; for an add that was interrupted')
  .argument('<id>', 'the name of the key')
  .option('--json', 'print its name as one line of JSON', false)
  .addHelpText('after', '\nExamples:\n  strand key-ring promote Ab3dE9xK')
  .action(runPromote)

const resealCommand = storeFlags(new Command('reseal'))
  .description('seal stream keys and signing keys with the newest master key; servers keep running')
  .option('--json', 'print the outcome as one line of JSON', false)
  .addHelpText(
    'after',
    `
It may be interrupted and run again: it goes on where it was.

Examples:
  strand key-ring reseal
  DATABASE_URL=postgres://strand@db/strand strand key-ring reseal`,
  )
  .action(runReseal)

const retireCommand = storeFlags(new Command('retire'))
  .description('take a master key out of the ring; refused while anything is sealed with it')
  .argument('<id>', 'the name of the key')
  .option('--yes', 'do not ask', false)
  .option('--json', 'print its name as one line of JSON', false)
  .addHelpText(
    'after',
    `
Backups from before need it: keep it with them. Pages of lists that were begun before it was replaced cannot be continued.

Examples:
  strand key-ring retire Ab3dE9xK --yes`,
  )
  .action(runRetire)

const dropSigningKeysCommand = storeFlags(new Command('drop-signing-keys'))
  .description('remove the keys that sign ID tokens, after a theft; servers make a new one')
  .option('--yes', 'do not ask', false)
  .option('--json', 'print the outcome as one line of JSON', false)
  .addHelpText(
    'after',
    `
They are replaced every 90 days without this. Servers stop using and publishing the old ones within a minute, and caches keep
the list for five. People stay logged in to applications; log-ins that are under way may have to be repeated.

Examples:
  strand key-ring drop-signing-keys --yes`,
  )
  .action(runDropSigningKeys)

export const keyRingCommand = new Command('key-ring')
  .description('manage the master keys that stream keys and signing keys are sealed with')
  .addCommand(listCommand)
  .addCommand(addCommand)
  .addCommand(promoteCommand)
  .addCommand(resealCommand)
  .addCommand(retireCommand)
  .addCommand(dropSigningKeysCommand)

interface KeyRingFlags extends StoreFlags {
  readonly json: boolean
}

async function runList(flags: KeyRingFlags): Promise<void> {
  const config = settingsOf(flags)
  const ring = ringOf(config)
  const { counts, signing } = await withStore(config, async store => ({
    counts: await store.streamKeys.countByMasterKey(),
    signing: (await store.signingKeys.all()).map(key => key.key_id),
  }))
  const missing = [...new Set([...counts.keys(), ...signing])].filter(id => !ring.ids.includes(id))
  const keys = [...ring.ids, ...missing].map(id => {
    return {
      id,
      newest: id === ring.newest,
      in_ring: ring.ids.includes(id),
      stream_keys: counts.get(id) ?? 0,
      signing_keys: signing.filter(each => each === id).length,
    }
  })
  if (flags.json) return print(`${JSON.stringify({ keys })}\n`)
  const lines = keys.map(({ id, newest, in_ring, stream_keys, signing_keys }) => {
    const remark = newest ? '  seals' : in_ring ? '' : '  MISSING'
    return `${id.padEnd(33)}${stream_keys.toLocaleString('en-US').padStart(12)} stream ${stream_keys === 1 ? 'key' : 'keys'}${signing_keys > 0 ? `, ${signing_keys} signing ${signing_keys === 1 ? 'key' : 'keys'}` : ''}${remark}\n`
  })
  await print(lines.join(''))
}

async function runAdd(flags: KeyRingFlags): Promise<void> {
  const file = ownFile(settingsOf(flags))
  const id = addMasterKey(file)
  process.stderr.write(`Waiting ${TAKEN_UP_MILLISECONDS / 1000} s for servers that run to take up ${id}.\n`)
  await Bun.sleep(TAKEN_UP_MILLISECONDS)
  promoteMasterKey(file, id)
  await Bun.sleep(TAKEN_UP_MILLISECONDS)
  await report(
    flags,
    { id },
    `The master key ${id} seals from now on. Seal what is older with it: strand key-ring reseal`,
  )
}

async function runPromote(id: string, flags: KeyRingFlags): Promise<void> {
  promoteMasterKey(ownFile(settingsOf(flags)), id)
  await Bun.sleep(TAKEN_UP_MILLISECONDS)
  await report(
    flags,
    { id },
    `The master key ${id} seals from now on. Seal what is older with it: strand key-ring reseal`,
  )
}

async function runReseal(flags: KeyRingFlags): Promise<void> {
  const config = settingsOf(flags)
  const ring = ringOf(config)
  const { resealed, unopened, signing } = await withStore(config, async store => {
    const progress = new Progress('Sealing', { unit: 'keys', total: await countToReseal(store, ring) })
    const outcome = await reseal(store, ring, done => progress.reach(done))
    progress.end()
    return { ...outcome, signing: await resealSigningKeys(store, ring) }
  })
  await report(
    flags,
    {
      id: ring.newest,
      resealed,
      unopened,
      resealed_signing_keys: signing.resealed,
      unopened_signing_keys: signing.unopened,
    },
    `${resealed.toLocaleString('en-US')} stream ${resealed === 1 ? 'key was' : 'keys were'} sealed with the master key ${ring.newest}; signing keys: ${signing.resealed}.`,
  )
  if (unopened.length > 0) {
    throw new OperatorError(
      `${unopened.length} stream keys do not open and were left as they are, of users ${unopened.slice(0, MAX_NAMED).join(', ')}: is a master key missing from the ring?`,
    )
  }
  if (signing.unopened.length > 0) {
    throw new OperatorError(
      `${signing.unopened.length} signing keys do not open and were left as they are: ${signing.unopened.join(', ')}: is a master key missing from the ring?`,
    )
  }
}

async function runRetire(id: string, flags: KeyRingFlags & { readonly yes: boolean }): Promise<void> {
  const config = settingsOf(flags)
  const file = ownFile(config)
  if (!(await confirm(`Without the master key ${id}, older backups cannot be read. Retire it?`, flags.yes))) {
    throw new OperatorError(`${id} was left in the ring`)
  }
  await withStore(config, store => retireMasterKey(store, file, id))
  await report(flags, { id }, `The master key ${id} is retired.`)
}

async function runDropSigningKeys(flags: KeyRingFlags & { readonly yes: boolean }): Promise<void> {
  const config = settingsOf(flags)
  if (
    !(await confirm(
      'ID tokens signed so far will no longer be accepted. Remove the signing keys?',
      flags.yes,
    ))
  ) {
    throw new OperatorError('the signing keys were left as they are')
  }
  const removed = await withStore(config, store => store.commands.removeSigningKeys({}))
  await report(
    flags,
    { removed },
    `Signing keys removed: ${removed}. Servers make a new one within a minute.`,
  )
}

function report({ json }: KeyRingFlags, outcome: object, sentence: string): Promise<void> {
  return print(json ? `${JSON.stringify(outcome)}\n` : `${sentence}\n`)
}

function settingsOf(flags: StoreFlags): Config {
  const config = readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config)
  if (
    readMasterKeys(config) === undefined ||
    (config.databaseUrl === undefined && !existsSync(storeFileOf(config)))
  ) {
    throw new OperatorError(`${config.dataFolder} is not the data folder of a server: name it with --data`)
  }
  return config
}

const ringOf = (config: Config) => new KeyRing(readMasterKeys(config) ?? [])

/** The file of the keys. Those that a setting gives are changed where the setting is. */
function ownFile(config: Config): string {
  if (config.masterKeys === undefined) return masterKeyFileOf(config)
  throw new OperatorError(
    'the master keys come from STRAND_MASTER_KEYS: change them there and restart the nodes one by one, as docs/backup.md says',
  )
}

async function withStore<T>(
  config: Config,
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>,
): Promise<T> {
  const store = await openStore(config)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
