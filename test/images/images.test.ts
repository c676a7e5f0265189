import { expect, test } from 'bun:test'
import type { ImageName } from '../../src/images/image-name.ts'
import { Images } from '../../src/images/images.ts'
import { type Image, render } from '../../src/images/render.ts'
import { Metrics } from '../../src/kit/telemetry/metrics.ts'

const nameOf = (id: number, side = 64): ImageName => ({
  kind: 'users',
  id: String(id),
  width: side,
  height: side,
  format: 'png',
})

const imageOf = (bytes: number): Image => ({ file: new Blob(['x'.repeat(bytes)]), headers: new Headers() })

function measured(images: Images): Map<string, number | undefined> {
  const metrics = new Metrics()
  images.measure(metrics)
  return new Map(metrics.families.map(({ name, samples }) => [name, samples[0]?.value]))
}

/** Renderings that end when the test ends them. */
function heldBack() {
  const started: string[] = []
  const finishers: (() => void)[] = []
  const renderHeld = ({ id }: ImageName) => {
    started.push(id)
    return new Promise<Image>(resolve => finishers.push(() => resolve(imageOf(10))))
  }
  return { started, render: renderHeld, finishOne: () => finishers.shift()?.() }
}

const here = () => '127.0.0.1'

test('two pictures are rendered at a time, the others wait in order', async () => {
  const { started, render, finishOne } = heldBack()
  const images = new Images({ render })
  const all = [1, 2, 3, 4, 5].map(id => images.get(nameOf(id), here))
  await Bun.sleep(0)
  expect(started).toEqual(['1', '2'])
  for (const expected of [3, 4, 5]) {
    finishOne()
    await Bun.sleep(0)
    expect(started.length).toBe(expected)
  }
  finishOne()
  finishOne()
  await Promise.all(all)
  expect(started).toEqual(['1', '2', '3', '4', '5'])
})

test('requests for the same picture share one rendering, also while it waits', async () => {
  const { started, render, finishOne } = heldBack()
  const images = new Images({ render })
  const all = [1, 2, 3, 3, 1, 3, 2].map(id => images.get(nameOf(id), here))
  for (let left = 3; left > 0; left--) {
    await Bun.sleep(0)
    finishOne()
  }
  const answers = await Promise.all(all)
  expect(started).toEqual(['1', '2', '3'])
  expect(new Set(answers).size).toBe(3)
  expect(await images.get(nameOf(3), here)).toBe(answers[2] as Image)
  expect(started.length).toBe(3)
})

test('pictures beyond the bound of the queue are refused, and rendered when there is space again', async () => {
  const { started, render, finishOne } = heldBack()
  const pixelsOfOne = 64 * 64 + 16 * 1024
  const images = new Images({ render, maxWaitingPixels: 3 * pixelsOfOne })
  const accepted = [1, 2, 3, 4, 5].map(id => images.get(nameOf(id), here))
  for (const id of [6, 7])
    expect(images.get(nameOf(id), here)).rejects.toMatchObject({ name: 'images_busy', status: 503 })
  // One that waits already takes no more space.
  accepted.push(images.get(nameOf(5), here))
  await Bun.sleep(0)
  finishOne()
  await accepted[0]
  accepted.push(images.get(nameOf(6), here))
  for (let left = 5; left > 0; left--) {
    await Bun.sleep(0)
    finishOne()
  }
  await Promise.all(accepted)
  expect(started).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(measured(images).get('strand_images_refused_total')).toBe(2)
  expect(measured(images).get('strand_images_rendered_total')).toBe(6)
})

test('a network has a fifth of the queue, so that others get their pictures', async () => {
  const { render, finishOne } = heldBack()
  const images = new Images({ render, maxWaitingPixels: 20 * (64 * 64 + 16 * 1024) })
  const from = (address: string, first: number, count: number) =>
    Array.from({ length: count }, (_, n) => images.get(nameOf(first + n), () => address), here)
  const attacker = Promise.allSettled(from('203.0.113.7', 100, 50))
  const others = from('198.51.100.1', 1, 4)
  for (let left = 60; left > 0; left--) {
    finishOne()
    await Bun.sleep(0)
  }
  expect(await Promise.all(others)).toHaveLength(4)
  const outcomes = (await attacker).map(({ status }) => status)
  expect(outcomes.filter(status => status === 'fulfilled')).toHaveLength(2 + 4)
})

test('a failed rendering fails its requests only, and the next one starts', async () => {
  let calls = 0
  const images = new Images({
    render: async () => {
      calls += 1
      if (calls === 1) throw new Error('no')
      return imageOf(10)
    },
  })
  const all = await Promise.allSettled([1, 2, 3, 4, 1].map(id => images.get(nameOf(id), here)))
  expect(all.map(each => each.status)).toEqual([
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
  ])
  expect((await images.get(nameOf(1), here)).file.size).toBe(10)
})

test('the cache stays within its bytes and keeps what is used', async () => {
  const cacheBytes = 1024 * 1024
  let rendered = 0
  const images = new Images({
    cacheBytes,
    render: async () => {
      rendered += 1
      return imageOf(10_000)
    },
  })
  for (let id = 0; id < 1000; id++) {
    await images.get(nameOf(id), here)
    await images.get(nameOf(0), here)
    expect(images.cachedBytes).toBeLessThanOrEqual(cacheBytes)
  }
  expect(images.cachedBytes).toBeGreaterThan(cacheBytes / 3)
  expect(rendered).toBe(1000)
  expect(measured(images).get('strand_images_cached_bytes')).toBe(images.cachedBytes)
})

test('800 different pictures of all sizes stay within the cache', async () => {
  const cacheBytes = 2 * 1024 * 1024
  const images = new Images({ cacheBytes })
  for (let batch = 0; batch < 800; batch += 20) {
    const ids = Array.from({ length: 20 }, (_, index) => batch + index)
    await Promise.all(ids.map(id => images.get(nameOf(id, id % 400 === 0 ? 2048 : 1 + (id % 100)), here)))
    expect(images.cachedBytes).toBeLessThanOrEqual(cacheBytes)
  }
  expect(measured(images).get('strand_images_rendered_total')).toBe(800)
  expect(images.cachedBytes).toBeGreaterThan(cacheBytes / 3)
})

test('other work runs while the largest picture is rendered', async () => {
  let isRendering = true
  const rendering = render(nameOf(1, 2048)).finally(() => {
    isRendering = false
  })
  let turns = 0
  while (isRendering) {
    await Bun.sleep(0)
    turns += 1
  }
  await rendering
  // Between any two of its eight slices.
  expect(turns).toBeGreaterThanOrEqual(7)
})
