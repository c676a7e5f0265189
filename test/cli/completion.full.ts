/** The completion scripts, loaded by the shells they are for. */
import { afterAll, describe, expect, test } from 'bun:test'
import { placesUnder } from '../../src/cli/help/command-tree.ts'
import { candidatesFor } from '../../src/cli/help/completion.ts'
import { createProgram } from '../../src/cli/program.ts'
import { Shell } from '../support/cli/shell.ts'

const shell = new Shell()
afterAll(() => shell.remove())

const zsh = process.env.TEST_ZSH || undefined
const fish = process.env.TEST_FISH || undefined

/** What a real bash offers behind these words, the last of which is being typed. */
async function offeredByBash(...words: string[]): Promise<string[]> {
  const quoted = words.map(word => `'${word}'`).join(' ')
  const output = await shell.output(
    `source <(strand completion bash); COMP_WORDS=(strand ${quoted}); COMP_CWORD=${words.length}; ` +
      // The registration with complete is looked up, so that a script which does not register itself fails.
      `$(complete -p strand | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`,
  )
  return output.split('\n').filter(word => word !== '')
}

describe('bash', () => {
  test('offers nouns and commands', async () => {
    expect(await offeredByBash('')).toEqual(expect.arrayContaining(['serve', 'user', 'org', 'entitlement']))
    expect(await offeredByBash('cl')).toEqual(['client', 'clock'])
  })
  test('offers the verbs of a noun, also of one under another', async () => {
    expect(await offeredByBash('game', '')).toEqual(['create', 'set', 'list', 'show', 'delete', '--help'])
    expect(await offeredByBash('org', 'member', '')).toEqual(['add', 'list', 'remove', '--help'])
  })
  test('offers the flags of a verb, behind arguments too', async () => {
    expect(await offeredByBash('client', 'create', '--re')).toEqual(['--redirect-uri'])
    expect(await offeredByBash('channel', 'edit', 'lunar_otter', '--title', 'x', '--is')).toEqual([
      '--is-mature',
      '--is-branded-content',
    ])
  })
  test('offers the values of a flag and of an argument', async () => {
    expect(await offeredByBash('client', 'create', '--kind', '')).toEqual(['confidential', 'public'])
    expect(await offeredByBash('entitlement', 'list', '--fulfillment-status', 'F')).toEqual(['FULFILLED'])
    expect(await offeredByBash('completion', '')).toEqual(['bash', 'zsh', 'fish', '--help'])
  })
  test('leaves a file to the shell', async () => {
    expect(await offeredByBash('user', 'list', '--data', '')).toEqual([])
  })
})

test.skipIf(zsh === undefined)('zsh loads its script and knows the verbs', async () => {
  await shell.output(`strand completion zsh > _strand && ${zsh} -n _strand`)
  // The function is called with a compadd of our own, which prints what it is given.
  const asked = `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print files; }; source ./_strand
    words=(strand client create --kind ''); CURRENT=5; _strand; words=(strand org ''); CURRENT=3; _strand
    words=(strand user list --data ''); CURRENT=5; _strand`
  shell.write('asked.zsh', asked)
  expect((await shell.output(`${zsh} -f asked.zsh`)).trim().split('\n')).toEqual([
    'confidential',
    'public',
    ...['create', 'set', 'list', 'show', 'delete', 'member', '--help'],
    'files',
  ])
})

test.skipIf(fish === undefined)('fish loads its script and completes', async () => {
  await shell.output(`strand completion fish > strand.fish && ${fish} --no-execute strand.fish`)
  const offered = async (line: string) => {
    const { stdout, stderr } = await shell.run(`${fish} -N -c "source strand.fish; complete -C '${line}'"`)
    // What is printed there goes into the line that a person types.
    expect(stderr).toBe('')
    return stdout
      .trim()
      .split('\n')
      .map(each => each.split('\t')[0])
  }
  expect(await offered('strand cl')).toEqual(['client', 'clock'])
  expect(await offered('strand org member ')).toEqual(['add', 'list', 'remove'])
  expect(await offered('strand client create --kind ')).toEqual(['confidential', 'public'])
  expect(await offered('strand client create --redirect')).toEqual(['--redirect-uri'])
  expect(await offered('strand entitlement list --fulfillment-status ')).toEqual(['CLAIMED', 'FULFILLED'])
  expect(await offered('strand client create --kind public --redirect')).toEqual(['--redirect-uri'])
  expect(await offered('strand user list --data bi')).toEqual(['bin/'])
})

const program = await createProgram()

describe('strand __complete', () => {
  const wordsFor = (...words: string[]) => candidatesFor(program, words).map(({ word }) => word)

  test('leads to every command, and offers its flags', () => {
    for (const { path } of placesUnder(program).filter(place => place.path !== '')) {
      const words = path.split(' ')
      expect([path, wordsFor(...words)]).toEqual([path, expect.arrayContaining(words.slice(-1))])
      expect([path, wordsFor(...words, '--hel')]).toEqual([path, ['--help']])
    }
  })
  test('offers neither hidden commands nor hidden flags', () => {
    expect(wordsFor('__')).toEqual([])
    expect(wordsFor('serve', '--worker')).toEqual(['--workers'])
  })
  test('offers the values of a setting that has a flag', () => {
    expect(wordsFor('serve', '--log', 'in')).toEqual(['info'])
  })
  test('offers the verbs of events, and types as arguments and values', () => {
    expect(wordsFor('event', 'de')).toEqual(['delivery'])
    expect(wordsFor('event', 'tail', '--type', 'stream.')).toEqual(['stream.online', 'stream.offline'])
    expect(wordsFor('event', 'delivery', 'list', '--status', 'd')).toEqual(['delivered'])
  })
  test('prints a word and its meaning on each line, whatever the words are', async () => {
    expect(await shell.output('strand __complete -- verif')).toMatch(/^verify\t\w.*\n$/)
    for (const word of ['--version', '--help', '-v']) {
      expect(await shell.output(`strand __complete -- user ${word} ''`)).toContain('create\t')
    }
  })
})
