/** What cannot be run here, a container engine and a cluster, is at least held against the program. */
import { describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { parseAllDocuments } from 'yaml'
import { ALLOCATOR } from '../../bin/runtime.js'
import { licenseTexts } from '../../build/bundled-packages.ts'
import { createProgram } from '../../src/cli/program.ts'
import { settings } from '../../src/config/settings.ts'
import { VERSION } from '../../src/config/version.ts'
import { callbackUrl, writeConfiguration } from '../../src/ingest/configuration.ts'
import { readNetworks } from '../../src/kit/networks.ts'
import { ROOT, STRAND } from '../support/cli/strand-process.ts'
import { startTestServer } from '../support/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is whatever the file contains
type Manifest = any

/** Every document of a file, and none with an error of the parser. */
function documentsIn(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(ROOT, file), 'utf8'), { merge: true }).map(document => {
    expect([file, document.errors, document.warnings]).toEqual([file, [], []])
    return document.toJS()
  })
}

const manifests = [...new Glob('deploy/kubernetes/*.yaml').scanSync(ROOT)].flatMap(documentsIn)
const only = (kind: string, name = 'strand'): Manifest => {
  const found = manifests.filter(each => each.kind === kind && each.metadata.name === name)
  expect([kind, name, found.length]).toEqual([kind, name, 1])
  return found[0]
}
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const compose = documentsIn('deploy/compose.yaml')[0]
const commands = (await createProgram()).commands.map(command => command.name())

const notSettings = (names: Iterable<string>) =>
  [...names].filter(name => settings.every(setting => setting.name !== name) && !(name in ALLOCATOR))
const portOf = (address: string) => Number(address.split(':').at(-1))
/** Where encoders publish if they are given no port. */
const RTMP_PORT = 1935
/** A node that ends drains first and then waits so long for the last answers. */
const LAST_ANSWERS_SECONDS = 15

/** Settings that two nodes must have, and have the same. */
const SHARED = ['DATABASE_URL', 'STRAND_OPERATOR_TOKEN', 'STRAND_MASTER_KEYS', 'STRAND_PUBLIC_URL']

describe('the image', () => {
  const [, words = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? []
  const environment = Object.fromEntries(
    [...words.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )

  test('sets only what is a setting', () => {
    expect(Object.keys(environment)).toContain('STRAND_LISTEN')
    expect(notSettings(Object.keys(environment))).toEqual([])
  })

  test('keeps freed memory as long as the launcher does', () => {
    expect(environment).toMatchObject(ALLOCATOR)
  })

  test('runs without root', () => {
    expect(dockerfile.match(/^USER (.*)$/gm)).toEqual(['USER 10001:10001'])
    expect(dockerfile.indexOf('\nUSER ')).toBeLessThan(dockerfile.indexOf('\nENTRYPOINT '))
  })

  test('checks its health where it listens', () => {
    const [, command = '[]'] = /^HEALTHCHECK [\s\S]*?CMD (\[.*\])$/m.exec(dockerfile) ?? []
    // It reads the same settings as the server, so it asks where that listens.
    expect(JSON.parse(command)).toEqual(['/usr/local/bin/strand', 'healthcheck'])
    expect(commands).toContain('healthcheck')
    expect(dockerfile).toContain(`\nEXPOSE ${portOf(environment.STRAND_LISTEN ?? '')} ${RTMP_PORT}\n`)
  })

  test('installs ffmpeg if the build asks for it, and otherwise nothing', () => {
    const [, option] = /^ARG (FFMPEG=\w+)$/m.exec(dockerfile) ?? []
    expect(option).toBe('FFMPEG=off')
    const [, lines = ''] = /^RUN (if (?:.*\\\n)*.*)$/m.exec(dockerfile) ?? []
    const place = mkdtempSync(join(tmpdir(), 'strand-image-'))
    for (const program of ['apt-get', 'rm'])
      writeFileSync(join(place, program), `#!/bin/sh\necho ${program} "$@"\n`, { mode: 0o755 })
    const run = (FFMPEG: string) =>
      Bun.spawnSync(['/bin/sh', '-euc', lines], { env: { PATH: place, FFMPEG } }).stdout.toString()
    expect(run('off')).toBe('')
    expect(run('on').split('\n').slice(0, 2)).toEqual([
      'apt-get update',
      'apt-get install -y --no-install-recommends ffmpeg',
    ])
    rmSync(place, { recursive: true, force: true })
    expect(dockerfile.indexOf('apt-get')).toBeLessThan(dockerfile.indexOf('\nUSER '))
  })

  test('copies and starts what is there', () => {
    for (const [, from = ''] of dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)) {
      for (const file of from.split(' ')) expect([file, existsSync(join(ROOT, file))]).toEqual([file, true])
    }
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, from = '']) =>
      from.split(' '),
    )
    expect(ignored).toBe(`**\n${copied.map(file => `!${file}\n`).join('')}`)
    const [program] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]')
    expect(dockerfile).toContain(`\nCOPY --from=build /strand/dist/strand ${program}\n`)
  })

  test('is built from what it copies, with the packages of the build alone', () => {
    const place = mkdtempSync(join(tmpdir(), 'strand-image-'))
    for (const file of ['package.json', 'package-lock.json', 'bin', 'src', 'build']) {
      cpSync(join(ROOT, file), join(place, file), { recursive: true })
    }
    for (const name of buildPackages()) {
      const path = join('node_modules', name)
      if (!existsSync(join(ROOT, path))) continue
      mkdirSync(dirname(join(place, path)), { recursive: true })
      symlinkSync(join(ROOT, path), join(place, path))
    }
    // With a runtime that is given it compiles no bytecode, which takes most of the time.
    const line = ['npm', 'run', 'build', '--', '--runtime', process.execPath]
    const build = Bun.spawnSync(line, { cwd: place, stdout: 'ignore' })
    expect([build.exitCode, build.exitCode === 0 ? '' : build.stderr.toString()]).toEqual([0, ''])
    const answer = Bun.spawnSync([join(place, 'dist', 'strand'), 'version'], { cwd: tmpdir() })
    expect(answer.stdout.toString()).toBe(`${VERSION}\n`)
    const [, licenses = ''] = /^RUN npm run build && (node .*) > dist\/licenses\.txt$/m.exec(dockerfile) ?? []
    const texts = Bun.spawnSync(licenses.split(' '), { cwd: place })
    expect(texts.stdout.toString()).toBe(licenseTexts())
    rmSync(place, { recursive: true, force: true })
  })
})

/** What package.json lists, without its workspace, and what those packages need. */
function buildPackages(): ReadonlySet<string> {
  type Needs = Readonly<Record<string, string>>
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Partial<Record<(typeof KINDS)[number], Needs>>>
  }
  const found = new Set<string>()
  const add = (path: string, kinds: readonly (typeof KINDS)[number][]) => {
    for (const name of kinds.flatMap(kind => Object.keys(lock.packages[path]?.[kind] ?? {}))) {
      if (found.has(name)) continue
      found.add(name)
      add(`node_modules/${name}`, KINDS.slice(1))
    }
  }
  add('', KINDS)
  return found
}
const KINDS = ['devDependencies', 'dependencies', 'optionalDependencies', 'peerDependencies'] as const

describe('images that others made', () => {
  const DEPLOYED = 'registry.example.org/strand-server'
  const ours = (image: string) => image === 'strand-server:local' || image.startsWith(`${DEPLOYED}:`)
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)]
  const samples = ['compose.yaml', ...new Glob('deploy/**/*.yaml').scanSync(ROOT)].flatMap(file =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^\s*image: (\S+)$/gm)].map(
      ([, image = '']) => image,
    ),
  )
  const foreign = [...stages.map(([, image = '']) => image), ...samples].filter(image => !ours(image))

  test('are found, every one of them', () => {
    expect(dockerfile.match(/^\s*FROM\s/gim)).toHaveLength(stages.length)
    expect(new Set(foreign.map(image => image.split(':')[0]))).toEqual(
      new Set(['node', 'debian', 'postgres', 'haproxy']),
    )
  })

  test.each(foreign)('are pinned to a version and a digest: %s', image => {
    expect(image).toMatch(/^[a-z]+:(?:\d+\.\d+(?:\.\d+)?|bookworm-\d{8})(?:-[a-z-]+)?@sha256:[0-9a-f]{64}$/)
  })

  test('of one version have one digest', () => {
    const versions = new Set(foreign.map(image => image.split('@')[0]))
    expect(new Set(foreign).size).toBe(versions.size)
  })
})

describe('compose.yaml for one node', () => {
  const { services, volumes, networks } = documentsIn('compose.yaml')[0]
  const { strand } = services

  test('sets only what is a setting, shows HTTP to this machine only, and RTMP to encoders', () => {
    expect(notSettings(Object.keys(strand.environment))).toEqual([])
    const { STRAND_LISTEN, STRAND_OPERATOR_LISTEN, STRAND_RTMP_LISTEN } = strand.environment
    const http = [STRAND_LISTEN, STRAND_OPERATOR_LISTEN].map(portOf)
    expect(portOf(STRAND_RTMP_LISTEN)).toBe(RTMP_PORT)
    expect(strand.ports).toEqual([
      ...http.map(port => `127.0.0.1:${port}:${port}`),
      `${RTMP_PORT}:${RTMP_PORT}`,
    ])
  })

  test('trusts a proxy on the host, whose requests come from the gateway', () => {
    expect(strand).not.toHaveProperty('networks')
    expectTrustedGateway(strand, networks.default)
  })

  test('passes the build option of the image', () => {
    expect(strand.build).toEqual({ context: '.', args: { FFMPEG: `\${FFMPEG:-off}` } })
    expect(compose.services.node1.build).toEqual({ ...strand.build, context: '..' })
  })

  test('runs without root and privileges, with nothing to write to but the store', () => {
    const [, user] = /^USER (.*)$/m.exec(dockerfile) ?? []
    expect(strand).toMatchObject({
      user,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    const [volume, folder] = strand.volumes[0].split(':')
    expect(volumes).toHaveProperty(volume)
    expect(folder).toBe(strand.environment.STRAND_DATA)
    expect(dockerfile).toContain(`\nVOLUME ${folder}\n`)
    expect(Number.parseInt(strand.stop_grace_period, 10)).toBeGreaterThan(LAST_ANSWERS_SECONDS)
  })
})

/** The gateway is the only address of the network that is no container. */
function expectTrustedGateway({ environment }: Manifest, network: Manifest): void {
  const [{ subnet, gateway }] = network.ipam.config
  expect(environment.STRAND_TRUSTED_PROXIES).toBe(gateway)
  expect(readNetworks([subnet])?.has(gateway)).toBe(true)
}

describe('compose-mediamtx.yaml', () => {
  const file = 'deploy/compose-mediamtx.yaml'
  const { services, volumes, networks } = documentsIn(file)[0]
  const { strand, mediamtx } = services
  const instructions = readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('#'))
    .map(line => line.slice(1).trim())
    .join('\n')
    .replaceAll('\\\n', '')
  const [, words = ''] = /exec -T strand strand (media add .*) > mediamtx\.yml$/m.exec(instructions) ?? []
  const flag = (name: string) => new RegExp(`--${name} (\\S+)`).exec(words)?.[1] ?? ''

  test('has the node of compose.yaml, on a network with MediaMTX', () => {
    const { strand: one } = documentsIn('compose.yaml')[0].services
    const { STRAND_RTMP_LISTEN, ...settings } = one.environment
    const { STRAND_TRUSTED_PROXIES } = strand.environment
    expect(strand).toEqual({
      ...one,
      build: { context: '..' },
      networks: ['private', 'outside'],
      // MediaMTX has the port of encoders.
      environment: { ...settings, STRAND_TRUSTED_PROXIES },
      ports: one.ports.filter((port: string) => portOf(port) !== portOf(STRAND_RTMP_LISTEN)),
    })
    expectTrustedGateway(strand, networks.outside)
    for (const name of [...strand.networks, ...mediamtx.networks]) expect(networks).toHaveProperty(name)
    expect(volumes).toHaveProperty('data')
  })

  test('publishes RTMP and HLS of MediaMTX, and not its API', () => {
    expect(mediamtx.ports).toEqual(['1935:1935', '8888:8888'])
    const api = portOf(mediamtx.environment.MTX_APIADDRESS)
    expect(mediamtx.ports.map(portOf)).not.toContain(api)
    expect(flag('api-url')).toBe(`http://mediamtx:${api}`)
  })

  test('has a configuration that reaches the operator listener, where callbacks are answered', async () => {
    expect(words).toStartWith('media add mediamtx studio ')
    expect(flag('callback-url')).toBe(`http://strand:${portOf(strand.environment.STRAND_OPERATOR_LISTEN)}`)
    const callback = callbackUrl(flag('callback-url'), {
      adapter: 'mediamtx',
      name: 'studio',
      secret: 'smed_secret',
      recordingsUrl: undefined,
    })
    const [document] = parseAllDocuments(writeConfiguration('mediamtx', callback, flag('api-url')))
    expect(document?.errors).toEqual([])
    const configuration: Manifest = document?.toJS()
    expect(configuration).toMatchObject({
      authMethod: 'http',
      authHTTPAddress: callback,
      hlsVariant: 'mpegts',
    })
    const [path = ''] = Object.keys(configuration.paths)
    expect('live/lunar_otter').toMatch(new RegExp(path.replace('~', '')))
    // A stream key is longer than a login, so that it cannot become the path of viewers.
    expect(`live/live_141981764_${'x'.repeat(30)}`).not.toMatch(new RegExp(path.replace('~', '')))
    expect(mediamtx.volumes).toEqual([expect.stringMatching(/mediamtx\.yml\}:\/mediamtx\.yml:ro$/)])
  })
})

describe('strand.service', () => {
  const file = join(ROOT, 'deploy/systemd/strand.service')
  const unit = readFileSync(file, 'utf8')
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)

  test('sets only what is a setting, in the folder that the unit owns', () => {
    const settings = Object.fromEntries(
      valuesOf('Environment').flatMap(line =>
        line.split(' ').map(each => each.split('=') as [string, string]),
      ),
    )
    expect(notSettings(Object.keys(settings))).toEqual([])
    expect(settings).toMatchObject(ALLOCATOR)
    expect(settings.STRAND_DATA).toBe(`%S/${valuesOf('StateDirectory')}`)
  })

  test('starts with words that the command knows, and notifies systemd', () => {
    const [words = ''] = valuesOf('ExecStart')
    const flags = words.split(' ').filter(word => word.startsWith('--'))
    expect(flags).toEqual(['--notify', '--config'])
    const help = Bun.spawnSync([...STRAND, 'serve', '--help'], { cwd: ROOT })
    for (const flag of flags) expect(help.stdout.toString()).toContain(flag)
    expect(valuesOf('Type')).toEqual(['notify'])
  })

  test('has no privileges and can write nothing but its folder', () => {
    for (const [name, value] of Object.entries({
      DynamicUser: 'yes',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      ProtectHome: 'yes',
      CapabilityBoundingSet: '',
      StateDirectoryMode: '0700',
    })) {
      expect([name, ...valuesOf(name)]).toEqual([name, value])
    }
  })

  test('waits for a server that ends', () => {
    expect(Number.parseInt(valuesOf('TimeoutStopSec')[0] ?? '', 10)).toBeGreaterThan(2 * LAST_ANSWERS_SECONDS)
  })
})

describe('the backup units of systemd', () => {
  const read = (name: string) => readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')
  const service = read('strand-backup.service')
  const server = read('strand.service')
  const valuesOf = (unit: string, name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)

  test('back up the folder of the server, sealed, and check it, with words that the commands know', () => {
    const commands = valuesOf(service, 'ExecStart').map(line => /bin\/strand (\w+) (.*)'$/.exec(line) ?? [])
    expect(commands.map(([, command]) => command)).toEqual(['backup', 'verify'])
    for (const [, command = '', words = ''] of commands) {
      const flags = words.split(' ').filter(word => word.startsWith('--'))
      expect(flags).toContain('--passphrase-file')
      const help = Bun.spawnSync([...STRAND, command, '--help'], { cwd: ROOT })
      for (const flag of flags) expect(help.stdout.toString()).toContain(flag)
    }
    const folder = valuesOf(server, 'StateDirectory')[0]
    expect(valuesOf(service, 'StateDirectory')).toEqual([`${folder} ${folder}-backups`])
    expect(valuesOf(service, 'Environment')).toEqual([`STRAND_DATA=%S/${folder} STATE=%S/${folder}-backups`])
    // The name of the unit is that of its dynamic user.
    expect(valuesOf(service, 'User')).toEqual(['strand'])
  })

  test('have no privileges and no network', () => {
    for (const [name, value] of Object.entries({
      DynamicUser: 'yes',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      PrivateNetwork: 'yes',
      CapabilityBoundingSet: '',
    }))
      expect([name, ...valuesOf(service, name)]).toEqual([name, value])
  })
})

describe('compose.yaml', () => {
  const nodes = [compose.services.node1, compose.services.node2]

  test('gives both nodes the same settings but for the URL of their video, and only such', () => {
    const environments = nodes.map(({ environment: { STRAND_MEDIA_URL, ...settings } }) => settings)
    expect(environments[0]).toEqual(environments[1])
    expect(notSettings(Object.keys(nodes[0].environment))).toEqual([])
    for (const name of SHARED) expect(nodes[0].environment).toHaveProperty([name])
  })

  test("puts the nodes where the proxy's file looks for them, and believes that proxy", () => {
    const file = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8')
    const { environment } = nodes[0]
    for (const node of nodes) {
      const address = `${node.networks.private.ipv4_address}:${portOf(environment.STRAND_LISTEN)}`
      // In four lists, and for the video of this node.
      expect(file.split(address)).toHaveLength(6)
      const rtmp = `${node.networks.private.ipv4_address}:${portOf(environment.STRAND_RTMP_LISTEN)}`
      expect(file.split(rtmp)).toHaveLength(2)
      const { pathname } = new URL(node.environment.STRAND_MEDIA_URL)
      expect(file).toContain(`path_beg ${pathname}/live/ ${pathname}/videos/`)
      expect(node.environment.STRAND_MEDIA_URL).toBe(`${environment.STRAND_PUBLIC_URL}${pathname}`)
    }
    const bound = [...file.matchAll(/^ {2}bind :(\d+)$/gm)].map(([, port]) => Number(port))
    expect(compose.services.proxy.ports.map(portOf)).toEqual(bound)
    expect(environment.STRAND_TRUSTED_PROXIES).toBe(compose.services.proxy.networks.private.ipv4_address)
  })

  test("shows the operator's side to this machine only", () => {
    for (const [name, { ports = [] }] of Object.entries<Manifest>(compose.services)) {
      for (const port of ports) expect(name === 'proxy' || port.startsWith('127.0.0.1:')).toBe(true)
    }
  })

  test('waits for a node that ends, without root and with nothing to write to but its folders', () => {
    for (const node of nodes) {
      const wait = Number.parseInt(node.stop_grace_period, 10)
      expect(wait).toBeGreaterThan(Number(node.environment.STRAND_DRAIN_SECONDS) + LAST_ANSWERS_SECONDS)
      expect(node.read_only).toBe(true)
      expect(node.tmpfs.some((each: string) => each.startsWith(`${node.environment.STRAND_DATA}:`))).toBe(
        true,
      )
      expect(node).not.toHaveProperty('user')
    }
  })

  test('mounts files that are there, and shell that can be read', () => {
    for (const { volumes = [] } of Object.values<Manifest>(compose.services)) {
      for (const [from = ''] of volumes.map((each: string) => each.split(':'))) {
        if (!from.startsWith('./')) continue
        expect([from, existsSync(join(ROOT, 'deploy', from))]).toEqual([from, true])
        if (from.endsWith('.sh')) {
          expect(Bun.spawnSync(['sh', '-n', join(ROOT, 'deploy', from)]).exitCode).toBe(0)
        }
      }
    }
  })

  test('asks for one of two standbys by the names that they have', () => {
    const [, names = ''] =
      /ANY 1 \(([^)]*)\)/.exec(readFileSync(join(ROOT, 'deploy/postgres/primary.sh'), 'utf8')) ?? []
    const standbys = ['standby1', 'standby2'].map(name => compose.services[name].environment.STANDBY_NAME)
    expect(names.split(', ')).toEqual(standbys)
  })
})

describe('kubernetes', () => {
  const { spec: pod } = only('Deployment').spec.template
  const [container] = pod.containers
  const settings = { ...only('ConfigMap').data, ...only('Secret').stringData }
  const ports = new Map<string, number>(
    container.ports.map((port: Manifest) => [port.name, port.containerPort]),
  )

  test('sets only what is a setting, and every setting that nodes must share', () => {
    expect(notSettings(Object.keys(settings))).toEqual([])
    for (const name of SHARED) expect(settings).toHaveProperty([name])
    const sources = container.envFrom.map((each: Manifest) => (each.configMapRef ?? each.secretRef).name)
    expect(sources).toEqual([only('ConfigMap').metadata.name, only('Secret').metadata.name])
  })

  test('has no secret in it', () => {
    for (const value of Object.values<string>(only('Secret').stringData)) expect(value).toContain('REPLACE')
    for (const name of ['DATABASE_URL', 'STRAND_OPERATOR_TOKEN', 'STRAND_MASTER_KEYS']) {
      expect(only('ConfigMap').data).not.toHaveProperty([name])
    }
  })

  test('is not given names by the cluster that the program would take for misspelt settings', () => {
    expect(pod.enableServiceLinks).toBe(false)
  })

  test('has its ports where the program listens', () => {
    expect(ports.get('public')).toBe(portOf(settings.STRAND_LISTEN))
    expect(ports.get('operator')).toBe(portOf(settings.STRAND_OPERATOR_LISTEN))
    expect(only('Service').spec.ports.map((port: Manifest) => port.targetPort)).toEqual(['public'])
    const operator = only('Service', 'strand-operator').spec
    expect(operator.ports.map((port: Manifest) => port.targetPort)).toEqual(['operator'])
  })

  test('probes paths that are answered without a token', async () => {
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
      ({ httpGet }: Manifest) => httpGet,
    )
    expect(probes.map(({ path }) => path)).toEqual(['/readyz', '/readyz', '/healthz'])
    expect(probes.filter(({ port }) => !ports.has(port))).toEqual([])
    const server = await startTestServer('sqlite')
    for (const { path } of probes) expect((await server.call({ path })).status).toBe(200)
    await server.stop()
  })

  test('waits for a node that ends', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
      Number(settings.STRAND_DRAIN_SECONDS) + LAST_ANSWERS_SECONDS,
    )
  })

  test('runs without root on a file system that cannot be written, but for its folders', () => {
    const [, user] = /^USER (\d+):/m.exec(dockerfile) ?? []
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user) })
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const mounted = container.volumeMounts.map((mount: Manifest) => mount.mountPath)
    expect(mounted).toContain(settings.STRAND_DATA)
    expect(mounted).toContain('/tmp')
    expect(mounted).toContain(settings.STRAND_SPOOL)
    const volumes = pod.volumes.map((volume: Manifest) => volume.name)
    expect(container.volumeMounts.map((mount: Manifest) => mount.name)).toEqual(volumes)
  })

  test('migrates by a Job with the image and the settings of the nodes, and sends it no requests', () => {
    expect(settings.STRAND_MIGRATE).toBe('off')
    const { template } = only('Job', 'strand-migrate').spec
    const [migrate] = template.spec.containers
    expect(migrate).toMatchObject({ args: ['migrate'], image: container.image, envFrom: container.envFrom })
    expect(migrate.securityContext).toEqual(container.securityContext)
    expect(template.spec.securityContext).toEqual(pod.securityContext)
    expect(template.spec.enableServiceLinks).toBe(false)
    expect(template.metadata.labels).not.toEqual(only('Service').spec.selector)
    expect(commands).toContain('migrate')
  })

  test('has a node for broadcasts that is like the others, with RTMP and a separate URL', () => {
    const { spec } = only('Deployment', 'strand-media')
    const { containers, volumes, ...media } = spec.template.spec
    const { containers: _, volumes: others, topologySpreadConstraints, ...node } = pod
    expect(media).toEqual(node)
    expect(volumes).toEqual(others)
    const { env, ports: mediaPorts, readinessProbe, ...same } = containers[0]
    const { ports: __, readinessProbe: ___, ...expected } = container
    expect(same).toEqual(expected)
    expect(readinessProbe.httpGet).toEqual(container.livenessProbe.httpGet)
    const own = Object.fromEntries(env.map(({ name, value }: Manifest) => [name, value]))
    expect(notSettings(Object.keys(own))).toEqual([])
    expect(mediaPorts).toEqual([...container.ports, { name: 'rtmp', containerPort: RTMP_PORT }])
    expect(portOf(own.STRAND_RTMP_LISTEN)).toBe(RTMP_PORT)
    // A second pod with the same URL would be taken for the same node.
    expect([spec.replicas, spec.strategy]).toEqual([1, { type: 'Recreate' }])
    expect(new URL(own.STRAND_MEDIA_URL).hostname).not.toBe(new URL(settings.STRAND_PUBLIC_URL).hostname)
  })

  test('sends encoders and viewers to the node for broadcasts, and requests to the others', () => {
    const label = { 'app.kubernetes.io/name': 'strand-media' }
    const { spec } = only('Deployment', 'strand-media')
    expect([spec.template.metadata.labels, spec.selector.matchLabels]).toEqual([label, label])
    const rtmp = only('Service', 'strand-rtmp').spec
    expect(rtmp).toMatchObject({ selector: label, type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
    expect(rtmp.ports).toEqual([{ name: 'rtmp', port: RTMP_PORT, targetPort: 'rtmp' }])
    const media = only('Service', 'strand-media').spec
    expect(media).toEqual({ selector: label, ports: only('Service').spec.ports })
    const { podSelector, ingress } = only('NetworkPolicy', 'strand-media').spec
    expect(podSelector.matchLabels).toEqual(label)
    const [open, ...restricted] = only('NetworkPolicy').spec.ingress
    expect(ingress).toEqual([{ ports: [...open.ports, { port: 'rtmp' }] }, ...restricted])
  })

  test('everything points at the same pods', () => {
    const label = { 'app.kubernetes.io/name': 'strand' }
    expect(only('Deployment').spec.template.metadata.labels).toEqual(label)
    expect(only('Deployment').spec.selector.matchLabels).toEqual(label)
    expect(only('Service').spec.selector).toEqual(label)
    expect(only('Service', 'strand-operator').spec.selector).toEqual(label)
    expect(only('PodDisruptionBudget').spec.selector.matchLabels).toEqual(label)
    expect(only('NetworkPolicy').spec.podSelector.matchLabels).toEqual(label)
    expect(only('HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe(only('Deployment').metadata.name)
  })
})
