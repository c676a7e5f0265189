/**
 * From `npm start` to a stream that plays, with the lines that README and the demo print: a real encoder publishes, and the
 * home page and that of the channel play it in a real browser.
 */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { hasEncoder } from '../support/media/encoder.ts'
import { freePort } from '../support/store/postgres.ts'

/** The home page, the line for the encoder, and the page of the channel. */
const PRINTED =
  /^See who is live[^\n]*\n\n {2}(http\S+)\n.*^ {2}(ffmpeg [^\n]*)\n\nWatch it in a browser[^\n]*\n\n {2}(http\S+)\n/ms

afterAll(() => endAllProcesses())

test.skipIf(!hasBrowser || !hasEncoder)('three pasted lines lead to a stream that plays', async () => {
  const port = String(await freePort())
  const strand = new StrandProcess(['demo', '--port', port, '--rtmp-port', '0'])
  await strand.until(({ stdout }) => stdout.includes('Ctrl-C'))
  const lines = new StrandProcess(['demo', '--port', port, '--lines'])
  expect(await lines.exit()).toBe(0)
  const [, home = '', line = '', channel = ''] = PRINTED.exec(lines.stdout) ?? []
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
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const login = channel.split('/').at(-1)
    const streams = `${home}/helix/streams?user_login=${login}`
    while (((await (await fetch(streams)).json()) as { data: [] }).data.length === 0) await Bun.sleep(100)
    for (const shown of [home, channel]) {
      await page.goto(shown)
      while (!(await page.evaluate<boolean>('document.querySelector("video")?.currentTime > 1')))
        await Bun.sleep(100)
    }
    await page.goto(home)
    expect(await page.locator(`main a[href="/${login}"]`).first().isVisible()).toBe(true)
  } finally {
    await browser.close()
    encoder.kill('SIGKILL')
    await encoder.exited
    await strand.end('SIGTERM')
  }
})
