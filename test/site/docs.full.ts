/** The reference as a page: in a real browser, where operations are tried, and its lines in a real shell. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { operations } from '../../src/contract/index.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { layOutAll, look, violationsOn } from '../support/browser/look.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const pictures = process.env.STRAND_PICTURES || undefined

const ONE_OF_EACH = ['GetStreams', 'CreateToken', 'PutGame', 'PatchClient', 'DeleteGame', 'PlanFault']

describe('/docs', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { listen: { host: 'localhost', port: 0 } } })
  })
  afterAll(() => server.stop())

  test('the lines for a shell work when pasted', async () => {
    const page = await (await fetch(`${server.url}/docs`)).text()
    const lineOf = (id: string) => {
      const [, article = ''] = page.split(`<article id="${id}"`)
      const [, line = ''] = /<pre class="curl" tabindex="0"><code>(.*?)<\/code>/s.exec(article) ?? []
      return line.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
    }
    const run = async (id: string) => {
      const child = Bun.spawn(['sh', '-c', `${lineOf(id)} -s -o /dev/null -w '%{http_code}'`], {
        env: {
          ...process.env,
          OPERATOR_TOKEN: server.world.operator_token,
          TOKEN: server.world.broadcaster.token,
        },
      })
      return new Response(child.stdout).text()
    }
    expect(await run('GetStreams')).toBe('200')
    expect(await run('ValidateToken')).toBe('200')
    expect(await run('PutUser')).toBe('200')
    expect(await run('GetUser')).toBe('200')
    expect(await run('DeleteUser')).toBe('200')
  })

  describe.skipIf(!hasBrowser)('in a real browser', () => {
    let browser: Browser
    let page: Page
    const violations: string[] = []
    beforeAll(async () => {
      browser = await launchBrowser()
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      page = await context.newPage()
      page.on('console', message => {
        // That a tried request is refused is reported as an error too, and the account page has a password without a name.
        // A test may type before the browser has moved the focus.
        if (!/status of 4\d\d|Password forms|Autofocus/.test(message.text())) violations.push(message.text())
      })
      page.on('pageerror', error => violations.push(String(error)))
      page.on('request', request => {
        if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
          violations.push(`asked ${request.url()}`)
      })
    })
    afterAll(() => browser.close())

    /** Opens the page at an operation, with its form. */
    async function openForm(id: string, url = server.url): Promise<Locator> {
      await page.goto('about:blank')
      await page.goto(`${url}/docs#${id}`)
      const article = page.locator(`[id="${id}"]`)
      await article.getByRole('button', { name: 'Try it' }).click()
      await article.locator('.try-form').waitFor()
      return article
    }

    async function sendFrom(article: Locator): Promise<string> {
      await article.getByRole('button', { name: 'Send' }).click()
      await article.locator('.status-line').waitFor()
      return (await article.locator('.status-line strong').textContent()) ?? ''
    }

    const answerIn = async (article: Locator) =>
      JSON.parse((await article.locator('.outcome pre').textContent()) ?? '')

    /** Axe on one article and what it has open; the others are taken out, because they take minutes. */
    async function lookAtOne(id: string): Promise<void> {
      await page.evaluate(
        `for (const each of document.querySelectorAll('article:not([id="${id}"])')) {
          document.querySelector('nav li:has(a[href="#' + each.id + '"])')?.remove()
          each.remove()
        }`,
      )
      await page.mouse.move(0, 0)
      await look(page, `docs-${id}`)
      await page.setViewportSize({ width: 1440, height: 900 })
    }

    test('axe finds nothing on a phone and on a desk, light and dark', async () => {
      await page.goto(`${server.url}/docs`)
      await layOutAll(page)
      for (const [name, width, height] of [
        ['phone', 390, 844],
        ['desk', 1440, 900],
      ] as const) {
        await page.setViewportSize({ width, height })
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect([name, Math.max(0, overflow)]).toEqual([name, 0])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          if (pictures) await page.screenshot({ path: `${pictures}/docs-${name}-${colorScheme}.png` })
        }
      }
      // Operations are alike, and so are events: one of each method and one event stay, else axe would look at them for minutes.
      await page.evaluate(
        `for (const article of document.querySelectorAll('article:not(${[...ONE_OF_EACH, 'stream.online'].map(id => `[id="${id}"]`).join()})')) {
          document.querySelector('nav li:has(a[href="#' + article.id + '"])').remove()
          article.remove()
        }`,
      )
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await page.evaluate(`document.querySelector('.opener').open = true`)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          expect([width, colorScheme, ...(await violationsOn(page, colorScheme))]).toEqual([
            width,
            colorScheme,
          ])
        }
      }
    }, 180_000)

    test('a link leads to its operation; the keyboard filters, and clears again', async () => {
      await page.goto('about:blank')
      await page.goto(`${server.url}/docs#GetStreamKey`)
      // The script adds buttons to the page, which may move it.
      await page.locator('#GetStreamKey').getByRole('button', { name: 'Try it' }).waitFor()
      const top = await page.locator('#GetStreamKey').boundingBox()
      expect(Math.abs(top?.y ?? 9999)).toBeLessThan(200)
      if (pictures) await page.screenshot({ path: `${pictures}/docs-link.png` })
      await page.goto(`${server.url}/docs#PlanFault`)
      const link = page.locator('nav a[aria-current]', { hasText: 'PlanFault' })
      await link.waitFor()
      expect((await link.boundingBox())?.y).toBeWithin(0, 900)
      await page.keyboard.press('/')
      await page.keyboard.type('drops')
      await page.locator('#found', { hasText: 'results' }).waitFor()
      const visible = await page.locator('article:visible').evaluateAll(all => all.map(each => each.id))
      expect(visible).toContain('GetDropsEntitlements')
      expect(visible).not.toContain('GetStreamKey')
      if (pictures) await page.screenshot({ path: `${pictures}/docs-filter.png` })
      await page.keyboard.press('Escape')
      expect(await page.locator('article:visible').count()).toBe(operations.length + EVENT_TYPES.length)
    })

    test('an example is copied unchanged', async () => {
      await page.goto(`${server.url}/docs#GetStreams`)
      const example = page.locator('#GetStreams .example').first()
      const text = await example.locator('pre:visible').textContent()
      await example.getByRole('button', { name: 'Copy the request' }).click()
      await example.getByText('Copied').waitFor()
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(text ?? '')
      expect(text).toStartWith('curl ')
      await example.getByText('Copy', { exact: true }).waitFor()
      const buttons = await page.locator('.example .copy').count()
      expect(buttons).toBe(await page.locator('.example').count())
    })

    test('without a token: status, rate limit, time and body; an error is shown as one', async () => {
      const article = await openForm('GetStreams')
      await article.getByLabel('first').fill('2')
      expect(await article.locator('.outputs .example').first().textContent()).toContain(
        'GET /helix/streams?first=2',
      )
      expect(await sendFrom(article)).toStartWith('200')
      expect((await answerIn(article)).data.length).toBe(2)
      expect(await article.locator('.status-line').textContent()).toMatch(/\d+ ms/)
      const headers = (await article.locator('.answer-headers').textContent()) ?? ''
      for (const name of ['Ratelimit-Limit', 'Ratelimit-Remaining', 'Ratelimit-Reset', 'X-Request-Id'])
        expect(headers).toContain(name)
      if (pictures) await page.screenshot({ path: `${pictures}/docs-try.png` })
      await article.getByLabel('first').fill('101')
      await article.getByRole('button', { name: 'Send' }).click()
      const alert = article.locator('.notice.bad')
      expect(await alert.textContent()).toBe(
        'The parameter "first" was malformed: the value must be less than or equal to 100',
      )
      expect(await article.locator('.status-line').getAttribute('role')).toBe('alert')
      expect((await answerIn(article)).status).toBe(400)
      await lookAtOne('GetStreams')
      await page.getByRole('button', { name: 'Try it: GetStreams' }).click()
      expect(await article.locator('.try-form').isVisible()).toBe(false)
    })

    test('with a pasted token, which is neither shown nor stored', async () => {
      const { broadcaster, client } = server.world
      const article = await openForm('GetStreamKey')
      await article.getByLabel('A token that I paste').check()
      await article.getByLabel('Access token').fill(broadcaster.token)
      await article.getByLabel('Client-Id').fill(client.id)
      await article.getByLabel('broadcaster_id').fill(broadcaster.id)
      expect(await article.locator('.try').textContent()).not.toContain(broadcaster.token)
      expect(await sendFrom(article)).toStartWith('200')
      expect((await answerIn(article)).data[0].stream_key).toStartWith('live_')
      const stored =
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])'
      expect(await page.evaluate<string>(stored)).not.toContain(broadcaster.token)
      // In the form of another operation it is there already.
      await page.getByRole('button', { name: 'Try it: GetUsers' }).click()
      const other = page.locator('#GetUsers')
      await other.getByLabel('A token that I paste').check()
      expect(await sendFrom(other)).toStartWith('200')
      expect((await answerIn(other)).data[0].id).toBe(broadcaster.id)
      await page.reload()
      await page.getByRole('button', { name: 'Try it: GetUsers' }).click()
      await page.locator('#GetUsers').getByLabel('A token that I paste').check()
      expect(await page.locator('#GetUsers').getByLabel('Access token').inputValue()).toBe('')
    })

    test('after log-in, with a token of the site that has the scope of the operation', async () => {
      const { login = '', password = '', id } = server.world.users[0] ?? {}
      const article = await openForm('GetStreamKey')
      await article.getByLabel('As a user of this site').check()
      expect(await article.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
      await article.getByRole('link', { name: 'Log in to try it' }).click()
      await page.fill('#login', login)
      await page.fill('#password', password)
      await Promise.all([page.waitForURL(/docs#GetStreamKey$/), page.keyboard.press('Enter')])
      const asked = page.waitForRequest(/site\/token$/)
      const form = await openForm('GetStreamKey')
      expect(await form.getByLabel('broadcaster_id').inputValue()).toBe(id ?? '')
      expect(await sendFrom(form)).toStartWith('200')
      expect((await answerIn(form)).data[0].stream_key).toStartWith('live_')
      expect((await asked).postData()).toContain('&scope=channel%3Aread%3Astream_key')
      const streams = await openForm('GetStreams')
      await streams.getByLabel(/^As /).check()
      expect(await sendFrom(streams)).toStartWith('200')
      expect(await streams.locator('.outputs').textContent()).toContain('yours, valid for ten minutes')
    })

    test('a session that has ended leads to the log-in', async () => {
      const { login = '', password = '' } = server.world.users[0] ?? {}
      await page.context().clearCookies()
      await page.goto(`${server.url}/login`)
      await page.fill('#login', login)
      await page.fill('#password', password)
      await Promise.all([page.waitForURL(/account/), page.keyboard.press('Enter')])
      const article = await openForm('GetStreamKey')
      await page.context().clearCookies()
      await article.getByRole('button', { name: 'Send' }).click()
      expect(await article.locator('.notice.bad').textContent()).toBe('Your session has ended. Log in again.')
      expect(await article.getByRole('link', { name: 'Log in to try it' }).isVisible()).toBe(true)
    })

    test('the control API with an operator token: a user is made, and a wrong body is refused', async () => {
      const article = await openForm('PutUser')
      await article.getByLabel('Operator token').fill(server.world.operator_token)
      await article.getByLabel('user_id').fill('7001')
      await article.getByLabel(/^login/).fill('tried_otter')
      expect(await sendFrom(article)).toStartWith('200')
      expect((await server.control('GET', '/users/7001'))[0].login).toBe('tried_otter')
      await page.getByRole('button', { name: 'Try it: ModifyChannelInformation' }).click()
      await page.locator('#try-ModifyChannelInformation-title').waitFor()
      const ids = await page.locator('[id]').evaluateAll(all => all.map(each => each.id))
      expect(ids.length).toBe(new Set(ids).size)
      const grant = await openForm('GrantEntitlements')
      await grant.getByLabel('grants').fill('[{')
      expect(await grant.getByText('This is not JSON.').isVisible()).toBe(true)
      expect(await grant.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    })

    test('without a script it is all there', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      const plain = await context.newPage()
      await plain.goto(`${server.url}/docs`)
      expect(await plain.locator('article').count()).toBe(operations.length + EVENT_TYPES.length)
      expect(await plain.locator('#filter').isVisible()).toBe(false)
      expect(await plain.locator('.reference button').count()).toBe(0)
      // The languages and the groups of the menu need none either.
      const request = plain.locator('#GetStreams .request')
      expect(await request.locator('pre:visible').textContent()).toStartWith('curl ')
      await plain.getByLabel('Python').check()
      expect(await request.locator('pre:visible').textContent()).toStartWith('import json')
      const entry = plain.locator('.menu a[href="#PutUser"]')
      expect(await entry.isVisible()).toBe(false)
      await plain.locator('.menu summary', { hasText: 'Users' }).click()
      expect(await entry.isVisible()).toBe(true)
      await context.close()
    })

    test('nothing moves while the scripts load, also at an operation, in another language, on a phone', async () => {
      for (const width of [390, 1440]) {
        for (const [path, language] of [
          ['/docs', 'curl'],
          ['/docs#GetStreamMarkers', 'curl'],
          ['/docs#errors', 'typescript'],
          ['/docs', 'python'],
        ] as const) {
          const context = await browser.newContext({ viewport: { width, height: 844 } })
          await context.addCookies([
            { name: 'strand-docs-language', value: language, url: `${server.url}/docs` },
          ])
          await context.addInitScript(`
            window.shifts = []
            new PerformanceObserver(list => {
              for (const { value, sources } of list.getEntries())
                shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80))].join(' '))
            }).observe({ type: 'layout-shift', buffered: true })`)
          // What a late typeface moves is measured for the home page.
          await context.route(/\.woff2$/, route => route.abort())
          const fresh = await context.newPage()
          await fresh.goto(server.url + path)
          await fresh.locator('#GetStreams .copy').first().waitFor({ state: 'attached' })
          // Shifts are reported with a frame: two later, none is missing.
          await fresh.evaluate(
            'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
          )
          expect([width, path, ...(await fresh.evaluate<string[]>('shifts'))]).toEqual([width, path])
          expect(await fresh.locator(`#in-${language}`).isChecked()).toBe(true)
          await context.close()
        }
      }
    }, 120_000)

    test('a language is chosen beside any example, which stays where it is, and is remembered', async () => {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(`${server.url}/docs#GetStreamMarkers`)
      const request = page.locator('#GetStreamMarkers .request')
      const button = request.getByRole('button', { name: 'Python' })
      await button.waitFor()
      expect(await button.getAttribute('aria-pressed')).toBe('false')
      const before = (await button.boundingBox())?.y ?? 0
      await button.click()
      expect(await button.getAttribute('aria-pressed')).toBe('true')
      expect(Math.abs(((await button.boundingBox())?.y ?? 0) - before)).toBeLessThan(2)
      const text = (await request.locator('pre:visible').textContent()) ?? ''
      expect(text).toStartWith('import json')
      await request.getByRole('button', { name: 'Copy the request' }).click()
      await request.getByText('Copied').waitFor()
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(text)
      expect(await page.locator('#GetStreams .request pre:visible').textContent()).toStartWith('import json')
      if (pictures) await page.screenshot({ path: `${pictures}/docs-python.png` })
      await page.reload()
      await button.waitFor()
      expect(await page.getByLabel('Python').first().isChecked()).toBe(true)
      await request.getByRole('button', { name: 'TypeScript' }).click()
      expect(await request.locator('pre:visible').textContent()).toStartWith('import { createClient }')
      if (pictures) await page.screenshot({ path: `${pictures}/docs-typescript.png` })
      await request.getByRole('button', { name: 'curl' }).click()
      expect(await request.locator('pre:visible').textContent()).toStartWith('curl ')
    })

    test('a heading copies the link to what it names', async () => {
      await page.goto(`${server.url}/docs`)
      for (const name of ['GetStreams', 'stream.online', 'Errors']) {
        const heading = page.locator('.reference :is(h2, h3)', { hasText: new RegExp(`^${name}$`) })
        await heading.getByRole('link').click()
        await page.locator('.reference [role=status]', { hasText: 'Link copied' }).waitFor()
        const id = name === 'Errors' ? 'errors' : name
        expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(`${server.url}/docs#${id}`)
        expect(page.url()).toBe(`${server.url}/docs#${id}`)
        await page.locator('.reference [role=status]:empty').waitFor({ state: 'attached' })
      }
    })

    test('the menu follows the reader: groups unfold, and fold again', async () => {
      await page.goto('about:blank')
      await page.goto(`${server.url}/docs#PutUser`)
      const current = page.locator('.menu a[aria-current]')
      await page.locator('.menu a[aria-current]', { hasText: 'PutUser' }).waitFor()
      expect(await current.count()).toBe(1)
      await page.evaluate(`document.getElementById('GetFollowedStreams').scrollIntoView()`)
      await page.locator('.menu a[aria-current]', { hasText: 'GetFollowedStreams' }).waitFor()
      expect(await page.locator('.menu a[href="#PutUser"]').isVisible()).toBe(false)
      // A filter unfolds what it finds; Enter goes there.
      await page.keyboard.press('/')
      await page.keyboard.type('putuser')
      await page.locator('.menu a[href="#PutUser"]').waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/#PutUser$/)
      await page.locator('.menu a[aria-current]', { hasText: 'PutUser' }).waitFor()
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('PutUser')
    })

    test('on a phone the menu stays within reach, opens over the text, and code scrolls inside its box', async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      await page.goto('about:blank')
      await page.goto(`${server.url}/docs#UpdateDropsEntitlements`)
      const opener = page.locator('.opener summary')
      await opener.getByText('UpdateDropsEntitlements').waitFor()
      expect((await opener.boundingBox())?.y).toBeWithin(-1, 2)
      const heading = page.locator('#UpdateDropsEntitlements h3')
      const before = (await heading.boundingBox())?.y
      expect(before ?? 0).toBeGreaterThan(48)
      await opener.click()
      await page.locator('.menu a[href="#GetStreamKey"]').waitFor()
      expect((await heading.boundingBox())?.y).toBe(before)
      if (pictures) await page.screenshot({ path: `${pictures}/docs-phone-menu.png` })
      await page.locator('.menu a[href="#GetStreamKey"]').click()
      await page.waitForURL(/#GetStreamKey$/)
      expect(await page.locator('.menu').isVisible()).toBe(false)
      for (const language of ['Python', 'TypeScript', 'curl']) {
        await page.locator('#GetStreamKey').getByRole('button', { name: language }).click()
        expect(
          await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
        ).toBeLessThanOrEqual(0)
        if (pictures) await page.screenshot({ path: `${pictures}/docs-phone-${language}.png` })
      }
      const box = page.locator('#UpdateDropsEntitlements .request pre:visible')
      expect(await box.evaluate(each => each.scrollWidth > each.clientWidth)).toBe(true)
      await page.setViewportSize({ width: 1440, height: 900 })
    })

    test('no errors, and no other host was asked', () => {
      expect(violations).toEqual([])
    })
  })
})
