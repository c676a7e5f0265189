/** The verbs as a person meets them: what they print, where they work, what they refuse, and with which exit code. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'
import { type ResidentShell, ResidentStrand } from './resident-strand.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'

const strand = new ResidentStrand()
afterAll(() => strand.stop())

for (const engine of engines) {
  describe(`on a separate store, ${engine}`, () => {
    let shell: Shell
    let resident: ResidentShell
    let place: StorePlace
    beforeAll(async () => {
      place = await createStorePlace(engine, { empty: true })
      const environment = {
        STRAND_DATA: place.folder,
        ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }),
      }
      shell = new Shell(environment)
      resident = strand.shellIn(shell.folder, environment)
      await shell.output('strand migrate')
    })
    afterAll(async () => {
      await endAllProcesses()
      shell.remove()
      await place.remove()
    })

    test('one thing is shown a field a line, and as the answer itself with --json', async () => {
      const shown = await shell.output(
        'strand user set 4711 --login Lunar_Otter --created-at 2026-02-01T09:30:00Z --broadcaster-type partner',
      )
      expect(shown.split('\n')).toEqual([
        'id                 4711',
        'login              lunar_otter',
        'display_name       Lunar_Otter',
        'description        -',
        'links              -',
        'broadcaster_type   partner',
        'email              -',
        'created_at         2026-02-01T09:30:00.000Z',
        'suspended_at       -',
        'suspension_reason  -',
        '',
      ])
      const [user] = await shell.ask('strand user show 4711')
      expect(user).toEqual({
        id: '4711',
        login: 'lunar_otter',
        display_name: 'Lunar_Otter',
        description: '',
        links: [],
        broadcaster_type: 'partner',
        email: null,
        created_at: '2026-02-01T09:30:00.000Z',
        suspended_at: null,
        suspension_reason: '',
      })
    })

    test('a list is a table; a next page is reported; --all walks to the end, as one document with --json', async () => {
      for (let n = 0; n < 7; n++) await resident.output(`strand game set ${100 + n} --name Game_${n}`)
      const page = await resident.run('strand game list --first 3')
      expect(page.stdout.split('\n')).toEqual([
        'ID   NAME    ORGANIZATION ID',
        '100  Game_0  -',
        '101  Game_1  -',
        '102  Game_2  -',
        '',
      ])
      const [, cursor] = /--after (\S+), or --all/.exec(page.stderr) ?? []
      expect(
        (await resident.ask(`strand game list --first 3 --after ${cursor}`)).map(game => game.id),
      ).toEqual([...['103', '104', '105']])
      const whole = JSON.parse(await resident.output('strand game list --first 2 --all --json'))
      expect(whole.data).toHaveLength(7)
      expect(whole.pagination).toEqual({})
      expect((await resident.output('strand game list --first 2 --all')).split('\n')).toHaveLength(9)
      const none = await resident.run('strand benefit list --all --json')
      expect([none.code, JSON.parse(none.stdout)]).toEqual([0, { data: [], pagination: {} }])
    })

    test('the audit log distinguishes the command line from the holder of the token', async () => {
      await resident.output('strand user set 5000 --login told_apart')
      const rows = await resident.ask('strand audit list --subject user/5000')
      expect(rows).toEqual([expect.objectContaining({ actor: 'strand', operation: 'PutUser' })])
      await resident.output('strand user delete 5000 --yes')
    })

    test('a reader that has read enough is no failure', async () => {
      const cut = await shell.run('set -o pipefail; strand game list --all | :')
      expect([cut.code, cut.stderr]).toEqual([0, ''])
    })

    test('a user is named by id or login, wherever one is expected', async () => {
      await resident.output('strand user set 4712 --login brave_newt && strand user set 4713 --login 4711')
      await resident.output('strand follow add brave_newt 4711 && strand editor add LUNAR_OTTER brave_newt')
      expect((await resident.ask('strand user show @4711'))[0].id).toBe('4713')
      expect((await resident.ask('strand user show 4711'))[0].id).toBe('4711')
      for (const unknown of ['unknown', '@', '""']) {
        const refused = await resident.run(`strand user delete ${unknown} --yes`)
        expect([refused.code === 1 || refused.code === 2, refused.stderr.split('\n')]).toEqual([
          true,
          [expect.stringMatching(/^strand: (no user with the login|invalid <user>: must not be)/), ''],
        ])
      }
      expect(await resident.ask('strand user list')).toHaveLength(3)
    })

    test('yes and no, lists, and what is taken away again', async () => {
      const edit = (flags: string) => resident.ask(`strand channel edit lunar_otter ${flags}`)
      const [changed] = await edit('--is-mature --no-vod-enabled --tag a --tag b --game 100')
      expect(changed).toMatchObject({ is_mature: true, vod_enabled: false, tags: ['a', 'b'], game_id: '100' })
      const [kept] = await edit('--title "just the title"')
      expect(kept).toEqual({ ...changed, title: 'just the title' })
      const [emptied] = await edit('--no-is-mature --no-tag --no-game')
      expect(emptied).toMatchObject({ is_mature: false, tags: [], game_id: '', title: 'just the title' })
      const [labelled] = await edit(
        '--delay 30 --is-branded-content --content-classification-label Gambling --language other',
      )
      expect(labelled).toMatchObject({
        delay: 30,
        is_branded_content: true,
        content_classification_labels: ['Gambling'],
        language: 'other',
      })
      const [plain] = await edit('--delay 0 --no-is-branded-content --no-content-classification-label')
      expect(plain).toEqual({ ...emptied, language: 'other' })
      for (const [flags, why] of [
        ['--delay 901', 'invalid --delay: must be between 0 and 900'],
        ['--content-classification-label Boring', 'must be one of DebatedSocialIssuesAndPolitics'],
        ['--tag "two words"', 'the tag "two words" must be 1 to 25 letters or digits'],
      ] as const) {
        const refused = await resident.run(`strand channel edit lunar_otter ${flags}`)
        expect([refused.code > 0, refused.stderr]).toEqual([true, expect.stringContaining(why)])
      }
    })

    test('a profile is set and emptied; a list shows no address', async () => {
      const set = (flags: string) => resident.ask(`strand user set lunar_otter ${flags}`)
      const profile = { description: 'Slow dives', broadcaster_type: 'affiliate', email: 'otter@example.com' }
      const flags = '--description "Slow dives" --broadcaster-type affiliate --email otter@example.com'
      expect((await set(flags))[0]).toMatchObject(profile)
      expect(await resident.output('strand user list')).not.toContain('otter@example.com')
      const [emptied] = await set('--description "" --broadcaster-type "" --no-email')
      expect(emptied).toMatchObject({ description: '', broadcaster_type: '', email: null })
      const refused = await resident.run('strand user set lunar_otter --email otter')
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('an email address')])
    })

    test('what would steer a terminal is shown, not sent', async () => {
      await shell.output(`strand channel edit 4711 --title $'\\e[31mred\\e]0;title\\a'`)
      const shown = await resident.output('strand channel show 4711')
      expect(shown).toContain('title                          \\u{1b}[31mred\\u{1b}]0;title\\u{7}')
      expect((await resident.ask('strand channel show 4711'))[0].title).toBe('\x1b[31mred\x1b]0;title\x07')
    })

    test('a password comes by standard input and is not repeated', async () => {
      const created = await shell.run(
        'echo "correct horse" | strand user create with_password --password-stdin',
      )
      expect([created.code, created.stdout.includes('correct'), created.stderr]).toEqual([0, false, ''])
      const onTheLine = await resident.run('strand user create another --password correct-horse')
      expect([onTheLine.code, onTheLine.stderr]).toEqual([
        2,
        expect.stringContaining("unknown option '--password'"),
      ])
    })

    test('a server that runs on the same store notices', async () => {
      const port = await freePort()
      const url = `http://localhost:${port}`
      const server = await shell.start(`strand serve --listen localhost:${port}`).serving()
      await resident.output('strand stream start lunar_otter --viewer-count 9')
      const live = () =>
        fetch(`${url}/helix/streams`).then(answer => answer.json() as Promise<{ data: object[] }>)
      for (let seen = await live(); seen.data.length !== 1; seen = await live()) await Bun.sleep(20)
      expect((await live()).data).toMatchObject([{ user_id: '4711', viewer_count: 9 }])
      expect(await resident.ask('strand stream top --user brave_newt')).toEqual([])
      expect(await resident.ask('strand stream top --user brave_newt --user lunar_otter')).toHaveLength(1)
      await resident.output('strand stream end lunar_otter')
      for (let seen = await live(); seen.data.length !== 0; seen = await live()) await Bun.sleep(20)
      expect(await server.end('SIGTERM')).toBe(0)
    })

    test('deleting asks; without a terminal it needs --yes', async () => {
      const asked = await resident.run('strand user delete with_password')
      expect([asked.code, asked.stdout]).toEqual([2, ''])
      expect(asked.stderr).toContain('strand user delete with_password: Delete a user with channel')
      expect(await resident.ask('strand user list --login with_password')).toHaveLength(1)
      // A separate terminal, in which a person answers.
      const answering = (answer: string) =>
        shell.run(`echo ${answer} | script -qec 'strand user delete with_password' /dev/null`)
      const no = await answering('n')
      expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('nothing was changed')])
      expect(await resident.ask('strand user list --login with_password')).toHaveLength(1)
      const yes = await answering('y')
      expect([yes.code, yes.stdout]).toEqual([0, expect.stringMatching(/^users +removed +1/m)])
      expect(await resident.ask('strand user list --login with_password')).toHaveLength(0)
    })
  })
}

onEachStore('on a server, by --url', { streams: 3 }, server => {
  const shell = new Shell()
  const resident = strand.shellIn(shell.folder)
  beforeAll(() => shell.write('token', `${server().world.operator_token}\n`))
  afterAll(() => shell.remove())
  const at = () => `--url ${server().url}`

  test('the token comes from a file, the environment or the settings', async () => {
    const token = server().world.operator_token
    shell.write('settings.env', `STRAND_OPERATOR_TOKEN=${token}\n`)
    const byFile = await shell.ask(
      `strand user list --login ${server().world.broadcaster.login} ${at()} --token-file token`,
    )
    const byEnvironment = await shell.ask(`strand user show ${server().world.broadcaster.login} ${at()}`, {
      STRAND_OPERATOR_TOKEN: token,
    })
    const bySettings = await shell.ask(
      `strand user show ${server().world.broadcaster.id} ${at()}/control/ --config settings.env`,
    )
    expect([byEnvironment, bySettings]).toEqual([byFile, byFile])
  })

  test('verbs of the demo work there, and a planned failure is ridden out', async () => {
    const planned = await resident.ask(
      `strand fault plan --operation GetStreams --outcome unavailable --times 1 ${at()} --token-file token`,
    )
    expect(planned).toMatchObject([{ operation: 'GetStreams', outcome: 'unavailable', times: 1 }])
    server().strand.services.demo?.faults.plan({ operation: 'ListUsers', outcome: 'unavailable' })
    expect(await resident.ask(`strand user list ${at()} --token-file token`)).toHaveLength(20)
    const [clock] = await resident.ask(`strand clock set --advance-seconds 60 ${at()} --token-file token`)
    expect(Date.parse(clock.now)).toBeGreaterThan(Date.now() + 50_000)
  })

  test('a password is set there, by id or login', async () => {
    const line = `strand user password ${server().world.viewer.id} --generate ${at()} --token-file token`
    const password = (await resident.output(line)).trim()
    server().canaries.add(password)
    expect(password).toMatch(/^[A-Za-z0-9]{20}$/)
    const missing = await resident.run(`strand user password 1 --generate ${at()} --token-file token`)
    expect([missing.code, missing.stderr]).toEqual([1, 'strand: There is no user with the id "1".\n'])
  })

  test('a wrong token is refused in one sentence', async () => {
    shell.write('wrong', 'not-the-operator-token-at-all\n')
    const refused = await resident.run(`strand user list ${at()} --token-file wrong`)
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      'strand: The operator token is invalid or was revoked; send Authorization: Bearer <operator token>.\n',
    ])
  })
})

/** Makes the pages of a table unreadable. */
function overwrite(file: string, table: string): void {
  const store = new Database(file)
  const page = store.query<{ size: number; root: number }, [string]>(
    'select page_size as size, rootpage as root from pragma_page_size, sqlite_schema where name = ?',
  )
  const { size, root } = page.get(table) ?? { size: 0, root: 0 }
  store.close()
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(size, 0xa5), 0, size, (root - 1) * size)
  closeSync(handle)
}

describe('what is refused, in one sentence, with nothing changed', () => {
  const environment = { STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN }
  const shell = new Shell(environment)
  const resident = strand.shellIn(shell.folder, environment)
  beforeAll(async () => {
    mkdirSync(shell.data)
    shell.write('array.json', '[1]')
    shell.write('misspelt.json', '{"grantz": []}')
    shell.write('short-token', 'short\n')
    shell.write('grants.json', '{"grants": [{"user_id": "1"}]}')
    await shell.output(
      'strand migrate && strand user set 4711 --login lunar_otter && strand game set 33214 --name Tidefall',
    )
    await shell.output('strand migrate --data damaged')
    overwrite(join(shell.folder, 'damaged', 'strand.db'), 'feed_head')
  })
  afterAll(() => shell.remove())

  const LANTERN = '74c52265-e214-48a6-91b9-23b6014e8041'
  const cases: readonly (readonly [line: string, code: 1 | 2, sentence: RegExp])[] = [
    ['user create new_one --nonsense', 2, /unknown option '--nonsense'/],
    ['user', 2, /Usage: strand user/],
    ['user crate x', 2, /unknown command 'strand user crate': did you mean strand user create\?/],
    ['user create', 2, /^strand: strand user create requires <login>; see strand user create --help$/m],
    [
      'user create one two',
      2,
      /^strand: too many arguments: strand user create takes 1, not 2; see strand user create --help$/m,
    ],
    ['user create "not a login"', 2, /^strand: invalid <login>: must be 1 to 25 letters/],
    ['user set 4711 --login "not a login"', 2, /^strand: invalid --login: must be 1 to 25 letters/],
    ['user create lunar_otter', 1, /The login "lunar_otter" is taken/],
    ['user show 99', 1, /There is no user with the id "99"/],
    ['user show unknown', 1, /^strand: no user with the login "unknown"/],
    ['user show ..', 2, /^strand: invalid <user>: must not be "\.\."/],
    ['user set 007 --login bond', 2, /^strand: invalid <user>: must be .*decimal id/],
    ['user list --first 101', 2, /^strand: invalid --first: must be between 1 and 100, not "101"/],
    ['game list --org ""', 2, /^strand: invalid --org: must not be empty/],
    ['user list --after invented', 1, /invalid cursor/],
    ['client create x --kind secretive', 2, /^strand: invalid --kind: must be one of confidential, public/],
    [`client create x --org ${LANTERN}`, 1, /There is no organization with the id/],
    ['org create ""', 2, /^strand: invalid <name>: must not be ""/],
    ['org set not-a-uuid --name x', 2, /^strand: invalid <org>: must be a UUID/],
    [
      'stream start lunar_otter --viewer-count -1',
      2,
      /^strand: invalid --viewer-count: must be between 0 and/,
    ],
    ['stream end lunar_otter', 1, /The channel lunar_otter is not live/],
    [
      'entitlement grant --user lunar_otter',
      2,
      /^strand: strand entitlement grant requires --benefit and --game; see/,
    ],
    [
      `entitlement grant --user lunar_otter --benefit ${LANTERN} --game 33214`,
      1,
      /There is no benefit with the id/,
    ],
    [
      'entitlement grant --user 4711 --benefit x --game 33214',
      2,
      /^strand: invalid --benefit: must be a UUID/,
    ],
    [
      'entitlement grant --body misspelt.json',
      2,
      /--body misspelt.json: GrantEntitlements takes no "grantz"/,
    ],
    ['entitlement grant --body missing.json', 1, /cannot read --body missing.json/],
    ['entitlement grant --body array.json', 1, /invalid --body array.json: must be a JSON object/],
    ['entitlement grant --body grants.json', 1, /Missing required parameter|was malformed/],
    [
      'entitlement grant --body grants.json --user lunar_otter',
      2,
      /--body cannot be combined with other fields/,
    ],
    ['channel edit lunar_otter', 2, /channel edit requires a flag with the change to make/],
    ['client edit reefdrops0fulfilment0backend01', 2, /client edit requires a flag with the change to make/],
    [
      'key rotate lunar_otter',
      2,
      /^strand: strand key rotate lunar_otter: .* Continue\? Confirm with --yes\./,
    ],
    ['user list --data damaged', 1, /^strand: the store cannot be read: .*malformed/],
    ['viewer set', 2, /requires USER=NUMBER or --body/],
    ['viewer set lunar_otter', 2, /invalid argument "lunar_otter": must be USER=NUMBER/],
    ['follow add lunar_otter unknown', 1, /^strand: no user with the login "unknown"/],
    ['token end --yes < /dev/null', 2, /missing token: give it on standard input/],
    ['token end --yes <<< sapp_invented', 1, /There is no such token/],
    [
      'clock set --advance-seconds 60',
      1,
      /AdvanceClock works in demo mode only: give the URL of a running demo with --url/,
    ],
    [
      'clock set --advance-seconds soon',
      2,
      /^strand: invalid --advance-seconds: must be between 0\.001 and \d+, not "soon"/,
    ],
    ['user list --data nowhere', 1, /no store in nowhere: give its folder with --data/],
    [
      'user list --url http://localhost:1 --data data',
      2,
      /--url cannot be combined with --data or --database-url/,
    ],
    ['user list --url localhost:8080', 2, /^strand: invalid --url: must be an http or https URL/],
    ['user list --url http://localhost:1 --token-file missing', 1, /cannot read --token-file missing/],
    [
      'user list --url http://localhost:1 --token-file short-token',
      1,
      /must contain one token and nothing else/,
    ],
    ['user list --token-file short-token', 2, /--token-file requires --url/],
    ['user create by_url --url http://localhost:1', 1, /CreateUser got no answer/],
    ['completion tcsh', 2, /invalid <shell>: must be one of bash, zsh, fish, not "tcsh"/],
  ]
  for (const [line, code, sentence] of cases) {
    test(`${code}: strand ${line}`, async () => {
      const refused = await (line.includes('<') ? shell : resident).run(`strand ${line}`)
      expect([refused.code, refused.stdout]).toEqual([code, ''])
      expect(refused.stderr).toMatch(sentence)
      if (line !== 'user') expect(refused.stderr.trim().split('\n').length).toBeLessThanOrEqual(2)
      expect(refused.stderr).not.toMatch(/ at .*\.ts:\d+/)
    })
  }

  test('2: a server needs a token, and none is taken from the line', async () => {
    const refused = await resident.run('strand user list --url http://localhost:1', {
      STRAND_OPERATOR_TOKEN: '',
    })
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--url requires the operator token'),
    ])
    const onTheLine = await resident.run('strand user list --url http://localhost:1 --token abc')
    expect([onTheLine.code, onTheLine.stderr]).toEqual([
      2,
      expect.stringContaining("unknown option '--token'"),
    ])
  })

  test('after all of this there is what was there before', async () => {
    const lists = [
      'user list',
      'org list',
      'game list',
      'benefit list',
      'client list',
      'entitlement list',
      'stream top',
    ]
    const found = await Promise.all(lists.map(words => resident.ask(`strand ${words}`)))
    expect(found.map(rows => rows.length)).toEqual([1, 0, 1, 0, 0, 0, 0])
  })
})
