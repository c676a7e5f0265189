/** The workflows cannot run here; what others trust them for is in their files. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { parseDocument } from 'yaml'
import { PLATFORMS } from '../../build/release-files.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: { readonly include: readonly Readonly<Record<string, string>>[] } }
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly on: { readonly push: { readonly tags?: readonly string[] } }
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const files = [...new Glob('.github/workflows/*.yml').scanSync({ dot: true })].sort()

function read(file: string): Workflow {
  const document = parseDocument(readFileSync(file, 'utf8'))
  expect([file, document.errors, document.warnings]).toEqual([file, [], []])
  return document.toJS() as Workflow
}

const { jobs, permissions, on } = read('.github/workflows/release.yml')
const needsOf = (name: string): readonly string[] => [jobs[name]?.needs ?? []].flat()

/** All that a job waits for, also through others. */
function before(name: string): ReadonlySet<string> {
  return new Set(needsOf(name).flatMap(each => [each, ...before(each)]))
}

test('actions are those of GitHub, pinned by commit with their version, and keep no credentials', () => {
  expect(files).toEqual(['.github/workflows/ci.yml', '.github/workflows/release.yml'])
  const pins = new Set<string>()
  for (const file of files) {
    for (const [, action = ''] of readFileSync(file, 'utf8').matchAll(/uses: (.*)$/gm)) {
      expect(action).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
      pins.add(action)
    }
  }
  const names = [...pins].map(pin => pin.split('@')[0])
  expect(names.length).toBe(new Set(names).size)
  for (const { uses, with: input } of Object.values(jobs).flatMap(job => job.steps))
    if (uses?.startsWith('actions/checkout@')) expect(input).toMatchObject({ 'persist-credentials': false })
})

test('a job has only the permissions that it needs, and no secret', () => {
  expect(permissions).toEqual({})
  expect(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.permissions]))).toEqual({
    test: { contents: 'read' },
    files: { contents: 'read' },
    start: {},
    image: { contents: 'read', packages: 'write' },
    'image-index': { packages: 'write' },
    npm: { 'id-token': 'write' },
    github: { contents: 'write' },
  })
  for (const file of files) expect(readFileSync(file, 'utf8')).not.toContain('secrets.')
})

test('a tag of a version starts it, and nothing is published before tests have passed and each executable has started', () => {
  expect(on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } })
  for (const name of ['image', 'image-index', 'npm', 'github'])
    expect([name, ...before(name)]).toEqual(expect.arrayContaining(['test', 'files', 'start']))
  const started = jobs.start?.strategy?.matrix.include.map(({ platform }) => platform)
  expect(started).toEqual([...PLATFORMS])
})

test('what it publishes has the checksums of the files that were tried', () => {
  for (const name of ['npm', 'github']) {
    const lines = jobs[name]?.steps.flatMap(({ run }) => run ?? []) ?? []
    expect([name, lines[0]]).toEqual([name, 'sha256sum --check SHA256SUMS'])
    expect([name, lines.length]).toEqual([name, name === 'npm' ? 3 : 2])
  }
})
