/**
 * Compares pictures of pages with stored ones. Pictures are stored at a quarter of their size: enough to see where a part of
 * a page lies, and too little for how a machine draws edges. All work on them is done by the browser, in an empty page.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'

/** Pictures are compared in cells of so many stored points on each side. */
const CELL = 4
/** A cell differs if its mean does, in a colour, by more than this of 255. */
const TOLERANCE = 32
/** A picture differs if more than so many cells of 1000 do: a number may have another count of digits. */
const MAX_PER_MILLE = 2
/** The temporary folder of a test run is removed at its end, with all that is in it: these pictures are not. */
const KEPT = process.env.TEST_FOLDER ? dirname(process.env.TEST_FOLDER) : tmpdir()
const SCALE = 0.25
const QUALITY = 0.7

/** A picture of the open page, from its top, as a PNG of the size that pictures are stored in. */
export async function takePicture(page: Page, width: number, height: number): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height, scale: SCALE },
  })
  await session.detach()
  return Buffer.from(data, 'base64')
}

export class PictureBook {
  readonly #folder: string
  readonly #page: Page
  #failures: string | undefined

  /** `page`: an empty one. */
  constructor(folder: string, page: Page) {
    this.#folder = folder
    this.#page = page
  }

  /** Stores a picture, which is a PNG. */
  async store(name: string, png: Buffer): Promise<void> {
    mkdirSync(this.#folder, { recursive: true })
    writeFileSync(this.#fileOf(name), bytesOf(await this.#compressed(png)))
  }

  /** Whether a picture is as the stored one. */
  async isSame(name: string, png: Buffer): Promise<boolean> {
    return (await this.#compare(name, png)) === undefined
  }

  /** What is wrong with a picture: in words, with both pictures and their difference in a folder. Undefined: nothing. */
  async explain(name: string, png: Buffer): Promise<string | undefined> {
    const compared = await this.#compare(name, png)
    if (compared === undefined) return undefined
    const { perMille, actual, difference } = compared
    this.#failures ??= mkdtempSync(join(KEPT, 'strand-pictures-'))
    const file = this.#fileOf(name)
    writeFileSync(join(this.#failures, `${name}-actual.png`), bytesOf(actual))
    writeFileSync(join(this.#failures, `${name}-difference.png`), bytesOf(difference))
    if (existsSync(file)) copyFileSync(file, join(this.#failures, `${name}-expected.webp`))
    return `${name}: ${perMille.toFixed(1)} of 1000 cells differ, see ${this.#failures}`
  }

  /** Undefined: they are the same. */
  async #compare(name: string, png: Buffer): Promise<Compared | undefined> {
    const file = this.#fileOf(name)
    const actual = await this.#compressed(png)
    const expected = existsSync(file)
      ? `data:image/webp;base64,${readFileSync(file, 'base64')}`
      : 'data:image/gif;base64,R0lGODlhAQABAAAAACw='
    return this.#page.evaluate(`(${compare})(${words(actual, expected, CELL, TOLERANCE, MAX_PER_MILLE)})`)
  }

  /** Both pictures are compressed, so that they have lost the same. */
  #compressed(png: Buffer): Promise<string> {
    const url = `data:image/png;base64,${png.toString('base64')}`
    return this.#page.evaluate(`(${compress})(${words(url, QUALITY)})`)
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${name}.webp`)
  }
}

interface Compared {
  readonly perMille: number
  /** As data URLs. */
  readonly actual: string
  readonly difference: string
}

const words = (...values: readonly (string | number)[]) =>
  values.map(value => JSON.stringify(value)).join(',')
const bytesOf = (url: string) => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')

/** These run in the browser. */
const draw = `async url => {
  const image = new Image()
  image.src = url
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = image.width
  canvas.height = image.height
  canvas.getContext('2d', { willReadFrequently: true }).drawImage(image, 0, 0)
  return canvas
}`
const compress = `async (url, quality) => (await (${draw})(url)).toDataURL('image/webp', quality)`

const compare = `async (actualUrl, expectedUrl, cell, tolerance, maxPerMille) => {
  const draw = ${draw}
  const [actual, expected] = await Promise.all([actualUrl, expectedUrl].map(draw))
  const columns = Math.ceil(Math.max(actual.width, expected.width) / cell)
  const rows = Math.ceil(Math.max(actual.height, expected.height) / cell)
  const means = canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, columns * cell, rows * cell)
    const sums = new Float32Array(columns * rows * 4)
    for (let y = 0; y < rows * cell; y++)
      for (let x = 0; x < columns * cell; x++)
        for (let colour = 0; colour < 4; colour++)
          sums[(Math.floor(y / cell) * columns + Math.floor(x / cell)) * 4 + colour] +=
            data[(y * columns * cell + x) * 4 + colour] / cell ** 2
    return sums
  }
  const [left, right] = [means(actual), means(expected)]
  const differing = []
  for (let at = 0; at < columns * rows; at++) {
    const apart = [0, 1, 2, 3].some(colour => Math.abs(left[at * 4 + colour] - right[at * 4 + colour]) > tolerance)
    if (apart) differing.push(at)
  }
  const perMille = (1000 * differing.length) / (columns * rows)
  if (perMille <= maxPerMille) return undefined
  const plain = actual.toDataURL()
  const context = actual.getContext('2d')
  context.fillStyle = 'rgb(255 0 80 / 0.6)'
  for (const at of differing)
    context.fillRect((at % columns) * cell, Math.floor(at / columns) * cell, cell, cell)
  return { perMille, actual: plain, difference: actual.toDataURL() }
}`
