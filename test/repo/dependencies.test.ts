import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

/** ARCHITECTURE.md lists which module may import from which; this holds the imports against it. */
const dependencies = readDependencies(readFileSync('ARCHITECTURE.md', 'utf8'))
const files = [...new Glob('src/**/*.{ts,tsx}').scanSync('.')].sort()
const contents = new Map(files.map(file => [file, readFileSync(file, 'utf8')]))

function readDependencies(document: string): Map<string, ReadonlySet<string>> {
  const [, table = ''] = /\| Module \| May import from \|\n\|[-| ]+\|\n((?:\|.*\n)+)/.exec(document) ?? []
  return new Map(
    table
      .trim()
      .split('\n')
      .map(row => {
        const [, module = '', from = ''] = row.split('|').map(cell => cell.trim())
        return [
          module.replaceAll('`', ''),
          new Set([...from.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '')),
        ]
      }),
  )
}

/** The module of a file: its folder under src, or the file itself if it has a row. */
function moduleOf(file: string): string {
  const path = relative('src', file)
  return dependencies.has(path) ? path : (path.split('/')[0] ?? '')
}

function importsOf(file: string): string[] {
  const text = contents.get(file) ?? ''
  return [...text.matchAll(/\b(?:from|import)(?:\s+|\()'([^']+)'/g)].map(match => match[1] ?? '')
}

describe('the dependencies in ARCHITECTURE.md', () => {
  test('the table names every module', () => {
    const modules = new Set(files.map(moduleOf))
    expect([...dependencies.keys()].sort()).toEqual([...modules].sort())
  })

  test('every import is in the table, and every row is used', () => {
    const wrong: string[] = []
    const used = new Set<string>()
    for (const file of files) {
      const module = moduleOf(file)
      for (const target of importsOf(file)) {
        if (!target.startsWith('.')) continue
        const path = join(dirname(file), target)
        if (!path.startsWith('src/')) continue
        const other = moduleOf(path)
        if (other === module) continue
        used.add(`${module} <- ${other}`)
        if (!dependencies.get(module)?.has(other)) wrong.push(`${file} imports ${path}`)
      }
    }
    expect(wrong).toEqual([])
    const idle = [...dependencies].flatMap(([module, from]) =>
      [...from].map(other => `${module} <- ${other}`).filter(dependency => !used.has(dependency)),
    )
    expect(idle).toEqual([])
  })

  test('the table has no cycle', () => {
    const settled = new Set<string>()
    for (let before = -1; before !== settled.size; ) {
      before = settled.size
      for (const [module, from] of dependencies)
        if ([...from].every(each => settled.has(each))) settled.add(module)
    }
    expect([...dependencies.keys()].filter(module => !settled.has(module))).toEqual([])
  })
})

/** Modules whose files and folders are in a table of layers: each imports only from lines above it. */
describe.each(['store', 'site'])('the layers of %s', module => {
  const document = readFileSync('ARCHITECTURE.md', 'utf8')
  const [, table = ''] =
    new RegExp(`\\| Layer of \`${module}\` \\|[^\\n]*\\n\\|[-| ]+\\|\\n((?:\\|.*\\n)+)`).exec(document) ?? []
  const layers = table
    .trim()
    .split('\n')
    .map(row => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(match => match[1] ?? ''))
  const nameOf = (file: string) => relative(`src/${module}`, file).split('/')[0] ?? ''
  const levelOf = (file: string) => layers.findIndex(names => names.includes(nameOf(file)))
  const within = files.filter(file => file.startsWith(`src/${module}/`))

  test('the table names every file and folder', () => {
    expect([...new Set(within.map(nameOf))].sort()).toEqual(layers.flat().sort())
  })

  test('no import runs upward', () => {
    const upward = within.flatMap(file =>
      importsOf(file)
        .filter(target => target.startsWith('.'))
        .map(target => join(dirname(file), target))
        .filter(path => path.startsWith(`src/${module}/`) && nameOf(path) !== nameOf(file))
        .filter(
          path => levelOf(path) > levelOf(file) || (levelOf(path) === levelOf(file) && levelOf(file) > 0),
        )
        .map(path => `${file} imports ${path}`),
    )
    expect(upward).toEqual([])
  })
})

describe('what belongs in one place only', () => {
  test('only main.ts stands beside the folders of src', () => {
    expect(files.filter(file => dirname(file) === 'src')).toEqual(['src/main.ts'])
  })

  const mentions = (pattern: RegExp) => files.filter(file => pattern.test(contents.get(file) ?? ''))

  test('Bun.serve is in http', () => {
    for (const file of mentions(/Bun\.serve\(/)) expect(file).toStartWith('src/http/')
  })
  const ENGINE = /^src\/store\/(?:sqlite|postgres)\//
  test('the drivers are in the folders of the engines', () => {
    for (const file of mentions(/'bun:sqlite'|import \{[^}]*SQL[^}]*\} from 'bun'/))
      expect(file).toMatch(ENGINE)
  })
  test('only open-store.ts imports an engine from outside the store', () => {
    const outside = files.filter(
      file =>
        !file.startsWith('src/store/') &&
        importsOf(file).some(target => /store\/(?:sqlite|postgres)\//.test(target)),
    )
    expect(outside).toEqual(['src/server/open-store.ts'])
  })
  test('cookies are in pages', () => {
    for (const file of mentions(/['"](?:set-)?cookie['"]/i)) expect(file).toStartWith('src/site/')
  })
  test('request bodies are read in kit/read-body.ts', () => {
    const reading =
      /\brequest\)?\??\.(?:body|text|json|arrayBuffer|bytes|blob|formData|clone)\b|\{[^}\n]*\bbody\b[^}\n]*\} = (?:this\.#)?request\b/
    // The client's receiver of events runs in another program, which has no other code of ours; it bounds what it reads too.
    expect(mentions(reading)).toEqual(['src/client/event-receiver.ts', 'src/kit/read-body.ts'])
  })
  test('a problem is thrown for malformed input and rate limits only; handlers return refusals', () => {
    const handlers = files.filter(file => /^src\/(operations|auth|domain|store|directory)\//.test(file))
    const throwing = handlers.filter(file =>
      /\braise\(|throw (?:new Problem|problem)\(/.test(contents.get(file) ?? ''),
    )
    expect(throwing).toEqual(['src/auth/oauth-limits.ts', 'src/operations/timestamp.ts'])
  })
  test('pages read text through their list of fields', () => {
    const pages = files.filter(file => file.startsWith('src/site/'))
    const parsing = pages.filter(file =>
      /searchParams|new URLSearchParams|request\.url|splitPairs/.test(contents.get(file) ?? ''),
    )
    expect(parsing).toEqual(['src/site/request/fields.ts'])
  })
  test('setImmediate is in the store', () => {
    for (const file of mentions(/setImmediate\(/))
      expect(file).toMatch(/^src\/store\/(?:engine|sqlite|postgres)\//)
  })
  test('process.env is in config.ts', () => {
    expect(mentions(/process\.env|Bun\.env/)).toEqual(['src/config/config.ts'])
  })
  test('the contract and the client know nothing of the machine', () => {
    for (const file of files.filter(each => /^src\/(contract|client)\//.test(each))) {
      expect(
        importsOf(file).filter(target => !target.startsWith('.') && !target.startsWith('typebox')),
      ).toEqual([])
      expect(contents.get(file)).not.toMatch(/\bBun\.|\bprocess\./)
    }
  })
  test('the domain decides: no async, no clock, no randomness', () => {
    for (const file of files.filter(each => each.startsWith('src/domain/'))) {
      expect(contents.get(file)).not.toMatch(
        /\basync\b|\bawait\b|Date\.now|Math\.random|node:crypto|performance\.now/,
      )
    }
  })
  test('operations and contract have the same names', () => {
    const names = (folder: string) =>
      files
        .filter(file => file.startsWith(`src/${folder}/`))
        .map(file => relative(`src/${folder}`, file))
        // Resources, types of events, the reference, the description for operators and the controls of a demo are no operations.
        .filter(file => file.includes('/') && !/^(resources|events|admin|reference|demo)\//.test(file))
        .sort()
    expect(names('operations')).toEqual(names('contract'))
  })
})
