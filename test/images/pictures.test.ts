import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import type { ImageKind } from '../../src/contract/image-urls.ts'
import { draw } from '../../src/images/draw.ts'
import type { ImageName } from '../../src/images/image-name.ts'
import type { Picture, Point } from '../../src/images/picture.ts'
import { rasterize } from '../../src/images/raster.ts'
import { DRAWING_VERSION, render } from '../../src/images/render.ts'
import { encodeSvg } from '../../src/images/svg.ts'
import { runs } from '../support/properties.ts'
import { decodePng } from './decode-png.ts'

const KINDS: readonly ImageKind[] = ['users', 'games', 'channels', 'videos']
const kinds = fc.constantFrom(...KINDS)
const ids = fc.stringMatching(/^[0-9]{1,20}$/)
const sides = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 400 }) },
  fc.integer({ min: 1, max: 2048 }),
)

const bytesOf = async (name: ImageName) => (await render(name)).file.bytes()
const textOf = async (name: ImageName) => (await render(name)).file.text()
const idAt = (index: number) => String(141_981_764 + index * 37)
const MANY = Array.from({ length: 200 }, (_, index) => idAt(index))

/** The colour in the middle of a pixel, from the shapes alone. */
function colourAt(
  { width, height, background, shapes }: Picture,
  size: { width: number; height: number },
  x: number,
  y: number,
): string {
  const scale = Math.max(size.width / width, size.height / height)
  const at = [
    (x + 0.5 - size.width / 2) / scale + width / 2,
    (y + 0.5 - size.height / 2) / scale + height / 2,
  ] as const
  const covering = shapes.filter(shape =>
    'points' in shape
      ? isInside(shape.points, at)
      : ((at[0] - shape.cx) / shape.rx) ** 2 + ((at[1] - shape.cy) / shape.ry) ** 2 < 1,
  )
  return covering.at(-1)?.fill ?? background
}

/** On which side of each edge a point is. */
const sidesOf = (points: readonly Point[], [x, y]: Point) =>
  points.map(([ax, ay], index) => {
    const [bx, by] = points[(index + 1) % points.length] as Point
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)
  })

function isInside(points: readonly Point[], at: Point): boolean {
  const side = sidesOf(points, at)
  return side.every(each => each >= 0) || side.every(each => each <= 0)
}

describe('pictures', () => {
  test('property: every kind, id, size and format is a valid file of that size, and always the same one', async () => {
    await fc.assert(
      fc.asyncProperty(kinds, ids, sides, sides, async (kind, id, width, height) => {
        const png = { kind, id, width, height, format: 'png' } as const
        const bytes = await bytesOf(png)
        expect(await bytesOf(png)).toEqual(bytes)
        const decoded = decodePng(bytes)
        expect([decoded.width, decoded.height]).toEqual([width, height])
        const svg = await textOf({ ...png, format: 'svg' })
        expect(svg).toStartWith(
          `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 `,
        )
        expect(svg).toMatch(/^(<(svg|rect|ellipse|polygon) [a-z][^<>]*>)+<\/svg>\n$/i)
        expect(svg).not.toMatch(/NaN|Infinity|undefined/)
      }),
      { numRuns: runs(60) },
    )
  })

  test('a PNG has the colours that the shapes have, and almost everywhere exactly these', async () => {
    for (const kind of KINDS) {
      for (const [id, width, height] of [
        [idAt(1), 97, 61],
        [idAt(2), 61, 97],
        [idAt(3), 300, 300],
      ] as const) {
        const picture = draw(kind, id)
        const { palette, pixels } = decodePng(await bytesOf({ kind, id, width, height, format: 'png' }))
        const checked = Array.from(pixels.keys()).filter(place => place % 23 === 0)
        const exact = checked.filter(
          place =>
            palette[pixels[place] as number] ===
            colourAt(picture, { width, height }, place % width, Math.floor(place / width)),
        )
        expect(exact.length / checked.length).toBeGreaterThan(0.8)
      }
    }
  })

  test('the shapes of both formats are the same: convex, finite, and of few colours', () => {
    for (const kind of KINDS) {
      for (const id of MANY) {
        const picture = draw(kind, id)
        const colours = new Set([picture.background, ...picture.shapes.map(({ fill }) => fill)])
        for (const hex of colours) expect(hex).toMatch(/^#[0-9a-f]{6}$/)
        // With more, there are too few steps between two for smooth edges.
        expect(colours.size).toBeLessThanOrEqual(11)
        for (const shape of picture.shapes) {
          if (!('points' in shape)) continue
          const centre: Point = [
            shape.points.reduce((sum, [x]) => sum + x, 0) / shape.points.length,
            shape.points.reduce((sum, [, y]) => sum + y, 0) / shape.points.length,
          ]
          expect({ kind, id, shape, isConvex: isInside(shape.points, centre) }).toMatchObject({
            isConvex: true,
          })
          for (const corner of shape.points) {
            // A corner may be off by what rounding takes.
            const side = sidesOf(shape.points, corner)
            const isConvex = side.every(each => each > -5) || side.every(each => each < 5)
            expect({ kind, id, shape, isConvex }).toMatchObject({ isConvex: true })
          }
        }
      }
    }
  })

  test('each id has a different picture', () => {
    for (const kind of KINDS) {
      const pictures = new Set(MANY.map(id => encodeSvg(draw(kind, id), 1, 1)))
      expect(pictures.size).toBe(MANY.length)
    }
  })

  test('the picture of a user is symmetric', async () => {
    for (const id of MANY.slice(0, 40)) {
      const { pixels } = decodePng(
        await bytesOf({ kind: 'users', id, width: 300, height: 300, format: 'png' }),
      )
      for (let y = 0; y < 300; y += 7) {
        const row = pixels.subarray(y * 300, y * 300 + 300)
        // Edges round to one side or the other.
        const differing = row.filter((index, x) => Math.abs(index - (row[299 - x] ?? 0)) > 1)
        expect(differing.length).toBeLessThan(8)
      }
    }
  })

  test('the largest picture is rendered in slices', async () => {
    let pauses = 0
    await rasterize(draw('channels', '1'), 2048, 2048, async () => {
      pauses += 1
    })
    expect(pauses).toBe(7)
    await rasterize(draw('channels', '1'), 320, 180, () =>
      Promise.reject(new Error('a thumbnail needs no pause')),
    )
  })

  test('the version changes when the drawing changes', () => {
    const all = KINDS.flatMap(kind => MANY.slice(0, 50).map(id => encodeSvg(draw(kind, id), 300, 300)))
    const digest = createHash('sha256').update(all.join('')).digest('hex').slice(0, 16)
    // If this fails because the drawing was changed on purpose: raise DRAWING_VERSION, then write both down here.
    expect([DRAWING_VERSION, digest]).toEqual([1, '51a30021f739744e'])
  })
})
