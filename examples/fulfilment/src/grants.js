import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * The game's record of what its players own: one line per entitlement, in a file that is only appended to. A grant that was
 * returned from `add` survives a crash, and an entitlement is granted at most once, however often it is added.
 *
 * One process at a time opens the file. Several services share a database instead, with the entitlement id as primary key.
 */
export class Grants {
  #file
  #ids

  constructor(path) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    // A crash during a write leaves a part of a line: it was never returned from `add`, so it is removed.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    this.#file = openSync(path, 'a')
    ftruncateSync(this.#file, Buffer.byteLength(whole))
    sync(dirname(path))
    this.#ids = new Set(
      whole
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line).entitlement_id),
    )
  }

  get size() {
    return this.#ids.size
  }

  /** Grants what has not been granted, and returns when that is on disk. */
  add(entitlements) {
    const missing = entitlements.filter(({ id }) => !this.#ids.has(id))
    if (missing.length === 0) return
    const lines = missing.map(({ id, user_id, benefit_id }) =>
      JSON.stringify({ entitlement_id: id, user_id, benefit_id }),
    )
    writeSync(this.#file, `${lines.join('\n')}\n`)
    fsyncSync(this.#file)
    for (const { id } of missing) this.#ids.add(id)
  }

  close() {
    closeSync(this.#file)
  }
}

/** A new file is durable when its folder is. */
function sync(folder) {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
