/**
 * Styles of a page belong to that page (ADR 0052). A style sheet is that of one page, and all of it is nested in the class of
 * that page; what several pages share is in parts, where each class has one file.
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const FOLDER = 'src/site/styles'
const PARTS = join(FOLDER, 'parts')
/** The sheet of every page: it has imports only. */
const SHARED = 'site'
/** Parts that style elements, whatever their class. */
const ELEMENTS = ['tokens', 'base', 'controls']
/** The shared classes that the sheet of a page has rules for, to refine them. Another one is a collision of names. */
const REFINED: Readonly<Record<string, string>> = {
  account: 'notice panel',
  console: 'actions brand button field hidden-text line-chart notice panel plain quiet search small',
  docs: 'actions bar field notice quiet skip',
  drops: 'actions button campaign campaign-drops notice panel quiet small',
  form: 'actions field notice panel',
  home: 'actions badge button card chip grid icon live on-picture panel primary quiet shot tags',
  studio:
    'actions badge button chip dropdown facts field icon input notice panel rows shot small small-button',
  watch: 'avatar button campaign campaign-drops facts field grid notice shot tags',
}

interface Rule {
  /** A selector, or an at-rule. */
  readonly prelude: string
  /** Undefined for a statement without a block. */
  readonly block: string | undefined
}

const sheetsIn = (folder: string) =>
  readdirSync(folder)
    .filter(file => file.endsWith('.css'))
    .map(file => file.replace('.css', ''))
const textOf = (folder: string, name: string) =>
  readFileSync(join(folder, `${name}.css`), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')

/** The rules of a text, without those inside their blocks. */
function rulesOf(text: string): Rule[] {
  const rules: Rule[] = []
  let [start, depth, opened] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{' && depth++ === 0) opened = at
    else if (text[at] === ';' && depth === 0) {
      rules.push({ prelude: text.slice(start, at).trim(), block: undefined })
      start = at + 1
    } else if (text[at] === '}' && --depth === 0) {
      rules.push({ prelude: text.slice(start, opened).trim(), block: text.slice(opened + 1, at) })
      start = at + 1
    }
  }
  return rules
}

/** The selectors of a text, also those in media queries and in other rules. Declarations have no block. */
function selectorsIn(text: string): string[] {
  return rulesOf(text).flatMap(({ prelude, block }) => {
    if (block === undefined || prelude.startsWith('@keyframes') || prelude.startsWith('@font-face')) return []
    const own = prelude.startsWith('@') ? [] : prelude.split(/,(?![^(]*\))/).map(each => each.trim())
    return [...own, ...selectorsIn(block)]
  })
}

const classesIn = (selector: string) =>
  [...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = '']) => name)
/** The first of the elements that a selector names. */
const firstOf = (selector: string) => selector.split(/[\s>+~]/)[0] ?? ''

const pages = sheetsIn(FOLDER).filter(name => name !== SHARED)
const parts = sheetsIn(PARTS)

/** The part that each shared class belongs to. */
const owners = Map.groupBy(
  parts.flatMap(part =>
    selectorsIn(textOf(PARTS, part)).flatMap(selector =>
      // Others in the same compound are variants: `.notice.bad`.
      classesIn(firstOf(selector))
        .slice(0, 1)
        .map(name => ({ name, part })),
    ),
  ),
  ({ name }) => name,
)

test('the sheet of a page has imports of parts, and one rule for everything else: its class', () => {
  expect(pages.length).toBeGreaterThan(5)
  for (const page of pages) {
    const others = rulesOf(textOf(FOLDER, page)).filter(
      ({ prelude }) => !/^@import "\.\/parts\/[a-z-]+\.css"$|^@keyframes /.test(prelude),
    )
    expect([page, ...others.map(({ prelude }) => prelude)]).toEqual([page, `.${page}-page`])
    // `:root &` would reach out of the rule again.
    expect([page, selectorsIn(textOf(FOLDER, page)).filter(selector => /.&/.test(selector))]).toEqual([
      page,
      [],
    ])
  }
})

test('the sheet of every page has imports only', () => {
  expect(rulesOf(textOf(FOLDER, SHARED)).filter(({ prelude }) => !prelude.startsWith('@import'))).toEqual([])
})

test('every selector of a part begins with a class of that part, and no class belongs to two', () => {
  expect(parts.length).toBeGreaterThan(5)
  const loose = parts
    .filter(part => !ELEMENTS.includes(part))
    .flatMap(part =>
      selectorsIn(textOf(PARTS, part))
        .filter(selector => classesIn(firstOf(selector)).length === 0)
        .map(selector => `${part}: ${selector}`),
    )
  expect(loose).toEqual([])
  const shared = [...owners].map(
    ([name, places]) => [name, [...new Set(places.map(({ part }) => part))]] as const,
  )
  expect(shared.filter(([, files]) => files.length > 1)).toEqual([])
})

/** Every class of parts, also those inside a component, which a rule of a page would reach. */
const shared = new Set(parts.flatMap(part => selectorsIn(textOf(PARTS, part)).flatMap(classesIn)))

test('a page uses the name of a shared class only where it refines that part', () => {
  const refined = pages.map(page => {
    const selectors = selectorsIn(textOf(FOLDER, page))
    const reaching = selectors
      .flatMap(selector => classesIn(firstOf(selector)).slice(0, 1))
      .filter(name => shared.has(name))
    const used = selectors.flatMap(classesIn).filter(name => owners.has(name))
    return [page, [...new Set([...reaching, ...used])].sort().join(' ')] as const
  })
  expect(Object.fromEntries(refined)).toEqual(REFINED)
})

const SHEETS = [...pages.map(name => [FOLDER, name] as const), ...parts.map(name => [PARTS, name] as const)]

test('weights are tokens, and only the title of a view is bold', () => {
  const weights = SHEETS.flatMap(([folder, name]) =>
    [...textOf(folder, name).matchAll(/\bfont(?:-weight)?:\s*([^;]+);/g)].map(([, value = '']) => [
      name,
      value,
    ]),
  )
  const numeric = weights.filter(([, value]) => /^(?:\d{3}|bold|bolder|lighter)\b/.test(value ?? ''))
  // The range of the typeface.
  expect(numeric.filter(([name]) => name !== 'tokens')).toEqual([])
  const bold = weights.filter(([, value]) => value?.includes('--w-bold')).map(([name]) => name)
  expect(bold.sort()).toEqual(['base', 'home'])
})

/** Charts and bars, which show values. */
const DRAWINGS = [
  'components/campaign',
  'console/pages/list-page',
  'console/pages/row-page',
  'islands/studio-markers',
]

test('icons are those of the set: no view draws another, and no character stands for one', () => {
  const views = [...new Glob('**/*.tsx').scanSync('src/site')].map(
    file => [file.replace('.tsx', ''), readFileSync(join('src/site', file), 'utf8')] as const,
  )
  expect(
    views
      .filter(([, text]) => text.includes('<svg'))
      .map(([file]) => file)
      .sort(),
  ).toEqual([...DRAWINGS, 'components/icon'].sort())
  const sheets = SHEETS.map(([folder, name]) => [name, textOf(folder, name)] as const)
  expect([...views, ...sheets].filter(([, text]) => /[\u25a0-\u25ff\u2713-\u2718]/.test(text))).toEqual([])
  // Every list that unfolds has a chevron of the set, or looks like a button.
  expect(textOf(PARTS, 'base')).toContain('summary::-webkit-details-marker')
})
