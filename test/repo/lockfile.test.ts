import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
/** Of what tests run beside Strand. */
const others = lockedIn('test/media-servers/node-media-server')
const tools = lockedIn('test/reference/tools')

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
    expect(readFileSync('test/support/listed-packages.ts', 'utf8')).toContain("'--ignore-scripts'")
  })

  test('names exact versions, and few packages at run time', () => {
    const listed = JSON.parse(readFileSync('test/reference/tools/package.json', 'utf8')) as typeof manifest
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...listed.dependencies }
    for (const version of Object.values(all)) {
      expect(version).toMatch(/^[0-9]+\.[0-9]+\.[0-9]+[-.a-z0-9]*$/)
    }
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(10)
  })
})
