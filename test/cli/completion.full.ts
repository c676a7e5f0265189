/** The completion scripts, loaded by the shells they are for. */
import { afterAll, describe, expect, test } from 'bun:test'
import { Shell } from '../support/shell.ts'

const shell = new Shell()
afterAll(() => shell.remove())

const zsh = process.env.TEST_ZSH || undefined
const fish = process.env.TEST_FISH || undefined

/** What a real bash offers behind these words, the last of which is being typed. */
async function offeredByBash(...words: string[]): Promise<string[]> {
  const quoted = words.map(word => `'${word}'`).join(' ')
  const said = await shell.output(
    `source <(strand completion bash); COMP_WORDS=(strand ${quoted}); COMP_CWORD=${words.length}; ` +
      // What complete was told is looked up, so that a script which does not register itself fails.
      `$(complete -p strand | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`,
  )
  return said.split('\n').filter(word => word !== '')
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
  const asked = `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; source ./_strand
    words=(strand client create --kind ''); CURRENT=5; _strand; words=(strand org ''); CURRENT=3; _strand`
  shell.write('asked.zsh', asked)
  expect((await shell.output(`${zsh} -f asked.zsh`)).trim().split('\n')).toEqual([
    'confidential',
    'public',
    ...['create', 'set', 'list', 'show', 'delete', 'member', '--help'],
  ])
})

test.skipIf(fish === undefined)('fish loads its script and completes', async () => {
  await shell.output(`strand completion fish > strand.fish && ${fish} --no-execute strand.fish`)
  const offered = async (line: string) => {
    const { stdout, stderr } = await shell.run(`${fish} -N -c "source strand.fish; complete -C '${line}'"`)
    // What is said there is written into the line that a person types.
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
})

test('every script has every verb', async () => {
  for (const name of ['bash', 'zsh', 'fish']) {
    const script = await shell.output(`strand completion ${name}`)
    for (const words of ['user create', 'org member add', 'key rotate'])
      expect(script).toContain(`'${words}'`)
  }
})
