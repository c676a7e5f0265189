/**
 * Rendered pictures. Strangers choose what is rendered, so everything that they can make grow has a bound: the cache, the
 * renderings at a time, and what waits for them, of which a network has a share. Requests for the same picture share one
 * rendering.
 */
import { problem } from '../contract/problem.ts'
import { LruCache } from '../kit/lru-cache.ts'
import { BoundedQueue, type Entry, type Line } from '../kit/queues/bounded-queue.ts'
import { NetworkShares } from '../kit/queues/network-shares.ts'
import type { Measured, Metrics } from '../kit/telemetry/metrics.ts'
import { type ImageName, imagePath } from './image-name.ts'
import { type Image, render } from './render.ts'

const CACHE_BYTES = 32 * 1024 * 1024
/** What an entry takes beside its file, roughly. */
const ENTRY_BYTES = 2 * 1024
const CONCURRENCY = 2
/** Of all pictures that wait: 16 of the largest, which take about a third of a second, or 900 thumbnails. */
const MAX_WAITING_PIXELS = 64 * 1024 * 1024
/** Added to the pixels of each, because the smallest takes some time as well. */
const BASE_PIXELS = 16 * 1024

interface ImagesOptions {
  readonly cacheBytes?: number
  readonly maxWaitingPixels?: number
  readonly render?: (name: ImageName) => Promise<Image>
}

export class Images implements Measured {
  readonly #render: (name: ImageName) => Promise<Image>
  readonly #queue: BoundedQueue<Order>
  /** By path. */
  readonly #cache: LruCache<Image>
  /** By path, including those that wait. */
  readonly #inProgress = new Map<string, Promise<Image>>()
  #rendered = 0

  constructor(options: ImagesOptions = {}) {
    this.#render = options.render ?? render
    this.#queue = new BoundedQueue({
      places: CONCURRENCY,
      line: new PictureLine(options.maxWaitingPixels ?? MAX_WAITING_PIXELS),
      maxWaitMilliseconds: Number.POSITIVE_INFINITY,
      refusal: () => problem('images_busy'),
    })
    // It keeps up to twice the weight that it is given.
    this.#cache = new LruCache((options.cacheBytes ?? CACHE_BYTES) / 2, { weigh: imageWeight })
  }

  /** What the cache weighs. */
  get cachedBytes(): number {
    let bytes = 0
    for (const [, image] of this.#cache) bytes += imageWeight(image)
    return bytes
  }

  cached(path: string): Image | undefined {
    return this.#cache.get(path)
  }

  /** Throws `images_busy` if too many wait already, of all callers or of the network of this one. */
  async get(name: ImageName, address: () => string): Promise<Image> {
    const path = imagePath(name)
    return this.cached(path) ?? this.#inProgress.get(path) ?? this.#begin(path, name, address)
  }

  measure(metrics: Metrics): void {
    metrics.counter('strand_images_rendered_total', 'Pictures rendered.', this.#rendered)
    metrics.counter(
      'strand_images_refused_total',
      'Pictures not rendered because too many were waiting.',
      this.#queue.refused.full,
    )
    metrics.gauge('strand_images_cached_bytes', 'Size of the cache of rendered pictures.', this.cachedBytes)
  }

  #begin(path: string, name: ImageName, address: () => string): Promise<Image> {
    const pixels = name.width * name.height + BASE_PIXELS
    const image = this.#queue
      .run({ pixels, address }, async () => {
        const rendered = await this.#render(name)
        this.#rendered += 1
        this.#cache.set(path, rendered)
        return rendered
      })
      .finally(() => this.#inProgress.delete(path))
    this.#inProgress.set(path, image)
    return image
  }
}

/** Who waits for a rendering, and how large it is. */
interface Order {
  readonly pixels: number
  readonly address: () => string
}

/** First come, first served, as far as the pixels that wait, and those of one network, allow. */
class PictureLine implements Line<Order> {
  readonly #waitingPixels: NetworkShares
  /** With what gives their pixels back. */
  readonly #entries = new Map<Entry, () => void>()

  constructor(maxPixels: number) {
    this.#waitingPixels = new NetworkShares(maxPixels)
  }

  get size(): number {
    return this.#entries.size
  }

  add(entry: Entry, { pixels, address }: Order): boolean {
    const leave = this.#waitingPixels.take(address(), pixels)
    if (leave === undefined) return false
    this.#entries.set(entry, leave)
    return true
  }

  take(): Entry | undefined {
    for (const entry of this.#entries.keys()) {
      this.remove(entry)
      return entry
    }
    return undefined
  }

  remove(entry: Entry): boolean {
    this.#entries.get(entry)?.()
    return this.#entries.delete(entry)
  }
}

function imageWeight({ file }: Image): number {
  return file.size + ENTRY_BYTES
}
