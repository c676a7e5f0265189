import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

/** ARCHITECTURE.md tells which room may import from which; here the imports are held against it. */
const arrows = readArrows(readFileSync('ARCHITECTURE.md', 'utf8'))
const files = [...new Glob('src/**/*.ts').scanSync('.')].sort()
const contents = new Map(files.map(file => [file, readFileSync(file, 'utf8')]))

function readArrows(document: string): Map<string, ReadonlySet<string>> {
  const [, table = ''] = /\| Room \| May import from \|\n\|[-| ]+\|\n((?:\|.*\n)+)/.exec(document) ?? []
  return new Map(
    table
      .trim()
      .split('\n')
      .map(row => {
        const [, room = '', from = ''] = row.split('|').map(cell => cell.trim())
        return [
          room.replaceAll('`', ''),
          new Set([...from.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '')),
        ]
      }),
  )
}

/** The room of a file: its folder under src, or the file itself if it stands at the top. */
function roomOf(file: string): string {
  const [first = '', second] = relative('src', file).split('/')
  return second === undefined ? first : first
}

function importsOf(file: string): string[] {
  const text = contents.get(file) ?? ''
  return [...text.matchAll(/\b(?:from|import)(?:\s+|\()'([^']+)'/g)].map(match => match[1] ?? '')
}

describe('the arrows of ARCHITECTURE.md', () => {
  test('the table names every room', () => {
    const rooms = new Set(files.map(roomOf))
    expect([...arrows.keys()].sort()).toEqual([...rooms].sort())
  })

  test('every import goes along an arrow', () => {
    const wrong: string[] = []
    const used = new Set<string>()
    for (const file of files) {
      const room = roomOf(file)
      for (const target of importsOf(file)) {
        if (!target.startsWith('.')) continue
        const path = join(dirname(file), target)
        if (!path.startsWith('src/')) continue
        const other = roomOf(path)
        if (other === room) continue
        used.add(`${room} <- ${other}`)
        if (!arrows.get(room)?.has(other)) wrong.push(`${file} imports ${path}`)
      }
    }
    expect(wrong).toEqual([])
    const idle = [...arrows].flatMap(([room, from]) =>
      [...from].map(other => `${room} <- ${other}`).filter(arrow => !used.has(arrow)),
    )
    expect(idle).toEqual([])
  })

  test('the table has no circle', () => {
    const settled = new Set<string>()
    for (let before = -1; before !== settled.size; ) {
      before = settled.size
      for (const [room, from] of arrows) if ([...from].every(each => settled.has(each))) settled.add(room)
    }
    expect([...arrows.keys()].filter(room => !settled.has(room))).toEqual([])
  })
})

describe('what belongs in one place only', () => {
  const mentions = (pattern: RegExp) => files.filter(file => pattern.test(contents.get(file) ?? ''))

  test('Bun.serve is in http', () => {
    for (const file of mentions(/Bun\.serve\(/)) expect(file).toStartWith('src/http/')
  })
  test('the drivers are in store/sql', () => {
    for (const file of mentions(/'bun:sqlite'|import \{[^}]*SQL[^}]*\} from 'bun'/))
      expect(file).toStartWith('src/store/sql/')
  })
  test('only open-store sees store/sql from outside the store', () => {
    const outside = files.filter(
      file => !file.startsWith('src/store/') && importsOf(file).some(target => target.includes('store/sql/')),
    )
    expect(outside).toEqual(['src/open-store.ts'])
  })
  test('cookies are in pages', () => {
    for (const file of mentions(/['"](?:set-)?cookie['"]/i)) expect(file).toStartWith('src/pages/')
  })
  test('request bodies are read in kit/read-body.ts', () => {
    const reading =
      /\brequest\)?\??\.(?:body|text|json|arrayBuffer|bytes|blob|formData|clone)\b|\{[^}\n]*\bbody\b[^}\n]*\} = (?:this\.#)?request\b/
    expect(mentions(reading)).toEqual(['src/kit/read-body.ts'])
  })
  test('pages read text through their list of fields', () => {
    const pages = files.filter(file => file.startsWith('src/pages/'))
    const parsing = pages.filter(file =>
      /searchParams|new URLSearchParams|request\.url|splitPairs/.test(contents.get(file) ?? ''),
    )
    expect(parsing).toEqual(['src/pages/fields.ts'])
  })
  test('immediates are in store/sql', () => {
    for (const file of mentions(/setImmediate\(/)) expect(file).toStartWith('src/store/sql/')
  })
  test('process.env is in config.ts', () => {
    expect(mentions(/process\.env|Bun\.env/)).toEqual(['src/config.ts'])
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
        .filter(file => file.includes('/') && !file.startsWith('resources/'))
        .sort()
    expect(names('operations')).toEqual(names('contract'))
  })
})
