import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Glob } from 'bun'
import { HELIX_OPERATIONS, REMOVED_OPERATIONS } from '../../src/contract/helix-reference.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf } from '../../src/contract/operation.ts'
import { problems } from '../../src/contract/problem.ts'
import { DIFFERENCES } from '../../src/contract/reference/differences.ts'
import { strictRules } from '../../src/contract/strict.ts'
import { leaves } from '../support/cli/command-tree.ts'

const documents = ['*.md', 'docs/**/*.md', 'bench/*.md', 'rig/*.md'].flatMap(pattern => [
  ...new Glob(pattern).scanSync('.'),
])

/** Offered under /helix, although Helix does not have it. */
const ADDED = 'ExportStreamMarkers'

test('no link between documents is dead', () => {
  const dead: string[] = []
  for (const file of documents) {
    const text = readFileSync(file, 'utf8')
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#')
      if (/^[a-z]+:/.test(target)) continue
      const other = path === '' ? file : join(dirname(file), path)
      if (!existsSync(other)) dead.push(`${file} -> ${target}`)
      else if (anchor !== undefined && !anchorsOf(other).has(anchor)) dead.push(`${file} -> ${target}`)
    }
  }
  expect(dead).toEqual([])
})

function anchorsOf(file: string): Set<string> {
  const headings = readFileSync(file, 'utf8').match(/^#+ .*$/gm) ?? []
  return new Set(
    headings.map(heading =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test('docs/README.md lists every page of its folder once', () => {
  // The records have an index of their own.
  const pages = documents
    .filter(file => /^docs\/(?!README\.md$|adr\/\d)/.test(file))
    .map(file => file.slice('docs/'.length))
  const index = readFileSync('docs/README.md', 'utf8')
  const listed = [...index.matchAll(/\]\((?!\.\.)([^)]+)\)/g)].map(([, path = '']) => path)
  expect(listed.toSorted()).toEqual(pages.toSorted())
})

test('README links docs/README.md, and the table of operations, which it does not repeat', () => {
  const readme = readFileSync('README.md', 'utf8')
  expect(readme).toContain('](docs/README.md)')
  const count = operations.filter(
    operation => familyOf(operation) === 'helix' && operation.id !== ADDED,
  ).length
  expect(readme).toContain(`[${count} operations of Helix](docs/compatibility.md#operations)`)
  expect(readme).not.toMatch(/^\| \w+ \| `\w+ \/helix/m)
})

test('docs/compatibility.md has a row for every Helix operation that is offered, and no other', () => {
  const rows = readFileSync('docs/compatibility.md', 'utf8').matchAll(
    /^\| \[(\w+)\]\([^)]*\) \| `(\w+) (\/helix\S*)` \|/gm,
  )
  const listed = [...rows].map(([, id, method, path]) => `${id} ${method} ${path}`)
  const declared = operations
    .filter(operation => familyOf(operation) === 'helix')
    .map(({ id, method, path }) => `${id} ${method} ${path}`)
  expect(listed.sort()).toEqual(declared.sort())
})

test('the two commands of README stand alone, and the checks run the second', () => {
  const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```sh\n(.*?)```/gms)].map(
    ([, text]) => text,
  )
  expect(blocks).toContain('npm install && npm start\n')
  expect(blocks).toContain('npm install && npm test\n')
  expect(readFileSync('.ci/run', 'utf8').split('\n')).toContain('npm install && npm test')
})

test('lines for a checkout run bin/strand.js, and npx gets the name of the package: `npx strand` would ask the registry for another one', async () => {
  const commands = (await leaves()).map(({ words }) => words.replace(/^strand /, ''))
  const wrong: string[] = []
  let count = 0
  for (const file of documents.filter(each => each !== 'CHANGELOG.md')) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (/npx (-\S+ )*strand(?!-)/.test(line)) wrong.push(`${file}: ${line}`)
      for (const [, words = ''] of line.matchAll(/\bnode bin\/strand\.js ([a-z][a-z -]*)/g)) {
        count++
        if (!commands.some(command => `${words} `.startsWith(`${command} `))) wrong.push(`${file}: ${line}`)
      }
    }
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(20)
})

test('the index of decision records lists each once, with its title and the record that supersedes it', () => {
  const titles = [...new Glob('docs/adr/[0-9]*.md').scanSync('.')].map(file => {
    const [heading = '', , status = ''] = readFileSync(file, 'utf8').split('\n')
    const [, by] = /^Status: superseded by \[(\d{4})\]/.exec(status) ?? []
    return `- [${heading.slice('# '.length)}](${basename(file)})${by === undefined ? '' : `, superseded by ${by}`}`
  })
  const listed = readFileSync('docs/adr/README.md', 'utf8').match(/^- .*$/gm) ?? []
  expect([...listed].sort()).toEqual(titles.sort())
})

test('ARCHITECTURE has sections of a screen, and no line that is a page', () => {
  const sections = readFileSync('ARCHITECTURE.md', 'utf8').split(/^(?=#+ )/m)
  expect(sections.length).toBeGreaterThan(10)
  for (const section of sections) {
    const lines = section.trim().split('\n')
    const words = lines.map(line => line.split(/\s+/).length)
    const [title] = lines
    expect([title, lines.length <= 40, Math.max(...words) <= 90]).toEqual([title, true, true])
  }
})

test('files that ARCHITECTURE, SECURITY and the decisions point to are there', () => {
  const gone: string[] = []
  for (const document of ['ARCHITECTURE.md', 'SECURITY.md', 'STYLE.md', 'docs/decisions.md']) {
    for (const [, file = ''] of readFileSync(document, 'utf8').matchAll(
      /`([\w./-]+\/[\w.-]+\.(?:tsx?|js|css))`/g,
    )) {
      if (!existsSync(file) && !existsSync(join('src', file))) gone.push(`${document}: ${file}`)
    }
  }
  expect(gone).toEqual([])
})

test('paths below src that pages name are there', () => {
  const pages = documents.filter(file => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md')
  const named = pages.flatMap(page =>
    Array.from(readFileSync(page, 'utf8').matchAll(/`(src\/[\w./-]+)`/g), ([, path = '']) => ({
      page,
      path,
    })),
  )
  expect(named.length).toBeGreaterThan(2)
  expect(named.filter(({ path }) => !existsSync(path))).toEqual([])
})

test('files that comments in the code point to are there, by their name or the end of their path', () => {
  const code = [...new Glob('src/**/*.{ts,tsx}').scanSync('.')]
  const ends = new Set(
    [...code, ...new Glob('test/**/*.ts').scanSync('.'), ...documents].flatMap(file =>
      file.split('/').map((_, index, parts) => parts.slice(index).join('/')),
    ),
  )
  const gone: string[] = []
  let found = 0
  for (const file of code)
    for (const [comment] of readFileSync(file, 'utf8').matchAll(/\/\*\*[\s\S]*?\*\/|\/\/.*$/gm))
      for (const [, path = ''] of comment.matchAll(/`([\w./-]+\.(?:tsx?|md))`/g)) {
        found += 1
        if (!ends.has(path)) gone.push(`${file}: ${path}`)
      }
  expect(found).toBeGreaterThan(50)
  expect(gone).toEqual([])
})

test('docs/decisions.md has D-1 to D-46, D-60 to D-102, D-110 to D-114, D-120 to D-128, D-130 to D-144, D-150 to D-162, D-170 to D-173, D-180 to D-186, D-200 to D-207, D-210 to D-215, D-220 to D-224, D-230 to D-236, D-250 to D-264 and D-270 to D-279, each once', () => {
  const text = readFileSync('docs/decisions.md', 'utf8')
  const numbers = [...text.matchAll(/^\*\*D-(\d+) /gm)].map(([, number]) => Number(number))
  const from = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const expected = [
    ...from(1, 46),
    ...from(60, 102),
    ...from(110, 114),
    ...from(120, 128),
    ...from(130, 144),
    ...from(150, 159),
    ...from(160, 162),
    ...from(170, 173),
    ...from(180, 186),
    ...from(200, 207),
    ...from(210, 215),
    ...from(220, 224),
    ...from(230, 236),
    ...from(250, 264),
    ...from(270, 279),
  ]
  expect(numbers.toSorted((a, b) => a - b)).toEqual(expected)
})

test('docs/compatibility.md has every operation of Helix, and for each that is offered what is different', () => {
  const text = readFileSync('docs/compatibility.md', 'utf8')
  for (const { method, path } of [...HELIX_OPERATIONS, ...REMOVED_OPERATIONS])
    expect(text).toContain(`| \`${method} /helix${path}\` |`)
  const names = HELIX_OPERATIONS.map(({ name }) => name.replaceAll(/[ -]/g, ''))
  for (const id of Object.keys(DIFFERENCES)) expect([...names, ADDED]).toContain(id)
  for (const { id } of operations.filter(operation => familyOf(operation) === 'helix'))
    expect(Object.keys(DIFFERENCES)).toContain(id)
})

test('every problem is declared by an operation, or belongs to all of them, to pages, to pictures, to broadcasts or to WebSockets', () => {
  const source = readFileSync('src/contract/operation.ts', 'utf8')
  const declared = new Set<string | undefined>(
    operations.flatMap(({ problems, exactlyOneProblem }) => [...problems, exactlyOneProblem]),
  )
  const unknownRoutes = readFileSync('src/http/endpoint/unknown-route.ts', 'utf8')
  const strict = strictRules.flatMap(({ problem }) => problem ?? [])
  const pictures = ['malformed_image_size', 'images_busy']
  const broadcasts = [
    ...['channel_busy', 'session_ended', 'viewers_full', 'broadcast_elsewhere'],
    ...['broadcast_late', 'playlist_too_far', 'recording_runs'],
  ]
  const sockets = ['upgrade_required', 'sockets_full']
  const others: readonly string[] = [
    ...['internal', 'malformed_host', 'malformed_form'],
    ...pictures,
    ...broadcasts,
    ...sockets,
    ...strict,
  ]
  const idle = Object.keys(problems).filter(
    name =>
      !declared.has(name) && !`${source}${unknownRoutes}`.includes(`'${name}'`) && !others.includes(name),
  )
  expect(idle).toEqual([])
})

test('documents and code name no path of one machine and no registry', () => {
  const files = ['src', 'test', 'bench', 'rig', 'docs', 'bin', '.ci'].flatMap(folder =>
    [...new Glob('**/*').scanSync({ cwd: folder })].map(file => join(folder, file)),
  )
  expect(documents.length).toBeGreaterThan(10)
  const offenders = [...files, ...documents, 'package-lock.json'].filter(file => {
    const text = readFileSync(file, 'utf8')
    return /"resolved": "http|registry\.npmjs|deb\.debian/.test(text)
  })
  expect(offenders.filter(file => !file.endsWith('documents.test.ts'))).toEqual([])
})
