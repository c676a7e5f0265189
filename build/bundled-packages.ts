/** What the package, the executables and the image contain beside the code of this repository. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')

/** What the build needs and the program does not contain. */
export const BUILD_TOOLS: readonly string[] = ['@types/bun', 'typescript']

/** What pino needs to write from another thread, which the program never asks for. */
const LEFT_OUT = ['pino-abstract-transport', 'process-warning', 'real-require', 'thread-stream']

/** Its package on npm has no license text. */
const RUNTIME_LICENSE = `The runtime is MIT licensed. It contains libraries under other licenses, among them JavaScriptCore (LGPL-2):
https://bun.com/docs/project/license
`

export interface BundledPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  /** As in package-lock.json: `sha512-` and base64. */
  readonly integrity: string
  /** The packages that it needs. */
  readonly needs: readonly string[]
}

/** The typeface of the site; `src/site/fonts/README.md` describes how its file is made from this package. */
export const TYPEFACE = { name: '@fontsource-variable/instrument-sans', version: '5.3.0', license: 'OFL-1.1' }

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The runtime, and what the build bundles with all that it needs, from package-lock.json; sorted by name. */
export function bundledPackages(): readonly BundledPackage[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  const found = new Map<string, BundledPackage>()
  const add = (name: string) => {
    if (found.has(name)) return
    const { version, license, integrity, dependencies = {} } = packages[`node_modules/${name}`] ?? {}
    if (version === undefined || license === undefined || integrity === undefined)
      throw new Error(`package-lock.json has no version, license or integrity of ${name}`)
    const needs = Object.keys(dependencies).filter(each => !LEFT_OUT.includes(each))
    found.set(name, { name, version, license, integrity, needs })
    needs.forEach(add)
  }
  directPackages(packages[''] ?? {}).forEach(add)
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Those that package.json names. */
export function directPackages({ dependencies, devDependencies }: Locked): readonly string[] {
  return Object.keys({ ...dependencies, ...devDependencies }).filter(name => !BUILD_TOOLS.includes(name))
}

/** The license texts of all of them. Equal texts are there once. */
export function licenseTexts(): string {
  const texts = new Map<string, string[]>()
  for (const { name, version, license } of [...bundledPackages(), TYPEFACE]) {
    const text = readLicense(name)
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license})`])
  }
  return [
    'This program contains the packages and the typeface below, under these licenses.\n',
    ...[...texts].map(([text, titles]) => `${titles.join('\n')}\n\n${text.trim()}\n`),
  ].join(`\n${'-'.repeat(72)}\n\n`)
}

function readLicense(name: string): string {
  if (name === 'bun') return RUNTIME_LICENSE
  if (name === TYPEFACE.name) return readText(join(ROOT, 'src/site/fonts/OFL.txt'))
  const folder = join(ROOT, 'node_modules', name)
  const file = readdirSync(folder).find(each => /^licen[cs]e(\.md|\.txt)?$/i.test(each))
  if (file === undefined) throw new Error(`${name} has no license text`)
  const text = readText(join(folder, file))
  // It names the Apache License, and the compiler comes with the text.
  return name === 'hls.js' ? `${text}\n${readText(join(ROOT, 'node_modules/typescript/LICENSE'))}` : text
}

function readText(file: string): string {
  return readFileSync(file, 'utf8').replaceAll('\r\n', '\n')
}

if (import.meta.main) process.stdout.write(licenseTexts())
