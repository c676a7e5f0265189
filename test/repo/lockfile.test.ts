import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { BUILD_TOOLS } from '../../build/bundled-packages.ts'
import { INSTALL_WORDS } from '../support/packages/listed-packages.ts'

/** The folders of the repository itself in the lockfile: the root, and the workspace with the tools of tests and checks. */
const OWN = new Set(['', 'test'])

interface Locked {
  readonly link?: boolean
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest
const manifest = read('package.json')
const packages = Object.entries(lock.packages).filter(([path, { link }]) => !OWN.has(path) && !link)
/** Of what tests run beside Strand. */
const others = lockedIn('test/media-servers/node-media-server')
const tools = [...lockedIn('test/contract/tools'), ...lockedIn('test/release/tools')]

function lockedIn(folder: string): [path: string, Locked][] {
  const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8')) as typeof lock
  return Object.entries(packages).filter(([path]) => path !== '')
}

describe('the lockfile', () => {
  test('has a version and an integrity for every package, and no address', () => {
    for (const [path, { version, integrity, resolved }] of [...packages, ...others, ...tools]) {
      expect([path, version !== undefined, integrity?.startsWith('sha512-'), resolved]).toEqual([
        path,
        true,
        true,
        undefined,
      ])
    }
  })

  test('is complete for every platform: an optional package that is missing makes npm ci refuse', () => {
    const missing = packages.flatMap(([, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(name => lock.packages[`node_modules/${name}`] === undefined),
    )
    expect(missing).toEqual([])
  })

  test('runs no install script that is not allowed by name', () => {
    const scripted = [...packages, ...others]
      .filter(([, locked]) => locked.hasInstallScript)
      .map(([path]) => path.replace(/^node_modules\//, ''))
    expect(scripted.filter(name => !manifest.allowScripts[name])).toEqual([])
  })

  test('the tools of tests are installed without their scripts: one of them reports every install', () => {
    expect(tools.filter(([, locked]) => locked.hasInstallScript).map(([path]) => path)).toEqual([
      'node_modules/@scarf/scarf',
    ])
    expect(INSTALL_WORDS).toContain('--ignore-scripts')
  })

  test('names exact versions', () => {
    const manifests = [
      'test/package.json',
      'test/contract/tools/package.json',
      'test/release/tools/package.json',
    ]
    const all = [manifest, ...manifests.map(read)].flatMap(({ dependencies, devDependencies }) => [
      ...Object.values(dependencies ?? {}),
      ...Object.values(devDependencies ?? {}),
    ])
    for (const version of all) {
      expect(version).toMatch(/^[0-9]+\.[0-9]+\.[0-9]+[-.a-z0-9]*$/)
    }
  })
})

describe('the packages', () => {
  /** What the build bundles. */
  const bundled = new Set(
    [...new Glob('src/**/*.{ts,tsx}').scanSync('.')].flatMap(file =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /(?:^(?:import|export|\})[^'\n]* from |^import |\brequire\()'((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^':]*)?'/gm,
        ),
      ]
        .map(([, name = '']) => name)
        .filter(name => !['.', '..', 'bun'].includes(name)),
    ),
  )

  test('of the program are few, and those who install it get only the runtime', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['bun'])
    expect(bundled.size + 1).toBeLessThanOrEqual(10)
  })

  test('that npm install brings, also from a git URL, are those that the build needs', () => {
    expect(Object.keys(manifest.devDependencies).sort()).toEqual([...bundled, ...BUILD_TOOLS].sort())
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('workspaces=false')
  })
})
