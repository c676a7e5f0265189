import { Argument, Command } from 'commander'
import { formatUrl } from '../../config/config.ts'
import {
  ADAPTERS,
  type AdapterName,
  MEDIA_SERVER_NAME,
  PLAYBACK_URL,
} from '../../contract/resources/media-server.ts'
import { checkMediaServer } from '../../ingest/check.ts'
import { callbackUrl, STANDARD_API_URLS, writeConfiguration } from '../../ingest/configuration.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_INPUT_FILE } from '../../kit/small-file.ts'
import { readStoreConfig } from '../store-flags.ts'
import { type FindingText, findingTexts } from '../terminal/finding-text.ts'
import { baseUrl, invalid, readGivenFile } from '../terminal/flag-values.ts'
import { counted, print, printResult } from '../terminal/print.ts'
import { requestedServer, type TargetFlags, targetFlags, withTarget } from './target.ts'
import { findUserId } from './users.ts'

interface AddFlags extends TargetFlags {
  readonly apiUrl?: string
  readonly callbackUrl?: string
  readonly recordingsUrl?: string
  readonly playbackUrl?: string
  readonly user?: string
  readonly rotate?: boolean
  readonly json?: boolean
}

export const mediaAddCommand = targetFlags(new Command('add'))
  .description('add a media server, and print the configuration that connects it to Strand')
  .addArgument(new Argument('<adapter>', 'kind of media server').choices(ADAPTERS).argParser(readAdapter))
  .argument('<name>', `name of the media server: ${MEDIA_SERVER_NAME.hint}`, readName)
  .option(
    '--api-url <url>',
    'URL of the API of the media server; default: as in the configuration',
    baseUrl('--api-url'),
  )
  .option(
    '--callback-url <url>',
    'URL at which the media server reaches the operator listener; default: from the settings',
    baseUrl('--callback-url'),
  )
  .option(
    '--recordings-url <url>',
    'URL at which viewers get recordings of the media server (nginx-rtmp, node-media-server); default: it records nothing',
    baseUrl('--recordings-url'),
  )
  .option(
    '--playback-url <url>',
    'URL at which viewers find the HLS playlist of a channel, with {login} in place of its login; default: unchanged',
    readPlaybackUrl,
  )
  .option(
    '--user <user>',
    'id or login of the only channel of the media server, whose --playback-url then needs no {login}',
  )
  .option(
    '--rotate',
    'give an existing media server another secret; the previous one stays valid for an hour',
  )
  .option('--json', 'print the server, its secret and the configuration as one line of JSON')
  .addHelpText(
    'after',
    `
The configuration contains the secret of the media server, which is shown only once.
For an existing media server this changes the URLs of its API and of its playlists, and prints the configuration with <secret> in its place,
or with another secret if --rotate is given.
OBS uses the stream keys of Strand with every media server; strand key show prints one.

Examples:
  strand media add nginx-rtmp edge-1
  strand media add nginx-rtmp edge-1 --rotate
  strand media add nginx-rtmp edge-1 --playback-url 'https://media.example.org/hls/{login}.m3u8'
  strand media add mediamtx studio --api-url http://10.0.0.7:9997 --callback-url http://10.0.0.5:8081`,
  )
  .action(addMediaServer)

function readAdapter(text: string): AdapterName {
  const adapter = ADAPTERS.find(each => each === text)
  if (adapter === undefined)
    throw invalid('<adapter>', `must be one of ${ADAPTERS.join(', ')}, not "${text}"`)
  return adapter
}

function readName(text: string): string {
  if (new RegExp(MEDIA_SERVER_NAME.pattern).test(text)) return text
  throw invalid('<name>', `must be ${MEDIA_SERVER_NAME.hint}, not "${text}"`)
}

function readPlaybackUrl(text: string): string {
  if (new RegExp(PLAYBACK_URL.pattern).test(text)) return text
  throw invalid('--playback-url', `must be ${PLAYBACK_URL.hint}, not "${text}"`)
}

async function addMediaServer(adapter: AdapterName, name: string, flags: AddFlags): Promise<void> {
  const strandUrl = flags.callbackUrl ?? requestedServer(flags)?.baseUrl ?? listenerUrl(flags)
  const result = await withTarget(flags, async client => {
    const user_id = flags.user === undefined ? undefined : await findUserId(client, flags.user)
    const { data } = await client.control.putMediaServer({
      name,
      adapter,
      api_url: flags.apiUrl ?? STANDARD_API_URLS[adapter] ?? null,
      ...(flags.playbackUrl !== undefined && { playback_url: flags.playbackUrl }),
      ...(user_id !== undefined && { user_id }),
    })
    if (!flags.rotate || data[0]?.secret !== undefined) return data[0]
    return (await client.control.rotateMediaServerSecret({ name })).data[0]
  })
  if (result === undefined) throw new Error('the server answered without a media server')
  const { secret } = result
  const { recordingsUrl } = flags
  const callback = callbackUrl(strandUrl, { adapter, name, secret: secret ?? '<secret>', recordingsUrl })
  const configuration = writeConfiguration(adapter, callback, result.api_url, { secret, recordingsUrl })
  await printResult(flags, { ...result, callback_url: callback, configuration }, configuration.trimEnd())
  if (result.secret === undefined && !flags.json)
    process.stderr.write(
      `${name} exists already, and its secret is not shown again: put it in the place of <secret>, or replace it with strand media rotate ${name}\n`,
    )
}

function listenerUrl(flags: TargetFlags): string {
  const { operatorListen, listen } = readStoreConfig(flags)
  return formatUrl(operatorListen ?? listen)
}

export const mediaCheckCommand = targetFlags(new Command('check'))
  .description('check from this machine whether the API of a media server can be used')
  .argument('<name>', 'name of the media server')
  .option(
    '--configuration <file>',
    'also check the secret and the callback URL in this file of the media server',
  )
  .option('--json', 'print the findings as one line of JSON')
  .addHelpText(
    'after',
    `
Contacts the media server and changes nothing. Exit code 0: no problems; 1: problems.

Examples:
  strand media check edge-1
  strand media check edge-1 --configuration /etc/nginx/nginx.conf`,
  )
  .action(runMediaCheck)

interface CheckFlags extends TargetFlags {
  readonly configuration?: string
  readonly json?: boolean
}

async function runMediaCheck(name: string, flags: CheckFlags): Promise<void> {
  const configuration =
    flags.configuration === undefined
      ? undefined
      : readGivenFile(flags.configuration, flags.configuration, MAX_INPUT_FILE)
  const { data } = await withTarget(flags, client => client.control.getMediaServer({ name }))
  const [server] = data
  if (server === undefined) throw new Error('the server answered without a media server')
  const { problems, publishers } = await checkMediaServer(server, configuration)
  const findings: FindingText[] = problems.map(text => ({ level: 'problem', text }))
  if (publishers !== undefined) findings.push({ level: 'ok', text: counted(publishers, 'publisher') })
  if (findings.length === 0) findings.push({ level: 'ok', text: nothingWrong(server, configuration) })
  await print(flags.json ? `${JSON.stringify({ problems, publishers })}\n` : findingTexts(findings))
  if (problems.length > 0) throw new OperatorError(`${counted(problems.length, 'problem')} found`)
}

/** Without a count of publishers: what was checked. */
function nothingWrong(
  { adapter, api_url }: { readonly adapter: AdapterName; readonly api_url: string | null },
  configuration: string | undefined,
): string {
  if (configuration !== undefined) return 'Strand answers the callbacks of this media server'
  return api_url === null || STANDARD_API_URLS[adapter] === undefined
    ? 'nothing to check: this media server is known by its callbacks only'
    : 'the API answers; give --configuration to check its secret'
}
