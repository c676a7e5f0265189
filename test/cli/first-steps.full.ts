/**
 * From `npm start` to a stream that plays, with the lines that README and the demo print: a real encoder publishes, the
 * channel is live on the home page, and its page plays in a real browser.
 */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { freePort } from '../support/postgres.ts'
import { endAllProcesses, StrandProcess } from '../support/strand-process.ts'

const { TEST_CHROMIUM: executablePath = '', TEST_FFMPEG = '' } = process.env

/** The line for the encoder, the page of the channel, and the home page. */
const PRINTED =
  /^ {2}(ffmpeg [^\n]*)\n.*^Watch it in a browser[^\n]*\n\n {2}(http\S+)\n.*^See who is live:\n\n {2}(http\S+)\n/ms

afterAll(() => endAllProcesses())

test.skipIf(executablePath === '' || TEST_FFMPEG === '')(
  'three pasted lines lead to a stream that plays',
  async () => {
    const port = String(await freePort())
    const strand = new StrandProcess(['demo', '--port', port, '--rtmp-port', '0'])
    const [, line = '', channel = '', home = ''] = await strand.until(
      ({ stdout }) => PRINTED.exec(stdout) ?? undefined,
    )
    expect(home).toBe(`http://localhost:${port}`)
    // The README has the same line, with the ports that the demo has by default.
    const readme = readFileSync('README.md', 'utf8')
    expect(readme.replaceAll(/ \\\n\s*/g, ' ')).toContain(line.replace(/localhost:\d+/, 'localhost:1935'))
    expect(readme).toContain(channel.replace(port, '8080'))
    const encoder = Bun.spawn(['sh', '-c', `exec ${line}`], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      const login = channel.split('/').at(-1)
      const streams = `${home}/helix/streams?user_login=${login}`
      while (((await (await fetch(streams)).json()) as { data: [] }).data.length === 0) await Bun.sleep(100)
      await page.goto(channel)
      while (!(await page.evaluate<boolean>('document.querySelector("video")?.currentTime > 1')))
        await Bun.sleep(100)
      await page.goto(home)
      // The list loads more as one scrolls; this channel has the fewest viewers.
      while ((await page.locator(`a[href="/${login}"]`).count()) === 0) {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)')
        await Bun.sleep(100)
      }
      expect(await page.locator(`a[href="/${login}"]`).first().isVisible()).toBe(true)
    } finally {
      await browser.close()
      encoder.kill('SIGKILL')
      await encoder.exited
      await strand.end('SIGTERM')
    }
  },
)
