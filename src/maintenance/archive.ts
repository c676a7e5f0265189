/**
 * The format of a backup: a plain tar file, readable with standard tools. The format is deterministic: name, size and time
 * determine every byte of a header, so an altered header is detected by generating it again.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { OperatorError } from '../kit/operator-error.ts'

const BLOCK = 512
const CHUNK = 1024 * 1024
/** More than any backup has. An archive with more is rejected before its entries are listed. */
const MAX_ENTRIES = 8
/** The largest size that fits as octal digits; a larger one is written in binary, as GNU tar does. */
const MAX_OCTAL = 8 ** 11 - 1

export interface Entry {
  readonly name: string
  readonly size: number
}

export interface WrittenEntry extends Entry {
  readonly sha256: string
}

export interface FoundEntry extends Entry {
  /** The offset of its header. */
  readonly at: number
}

export class ArchiveWriter {
  readonly #file: FileHandle
  readonly #time: number
  readonly written: WrittenEntry[] = []

  constructor(file: FileHandle, time: number) {
    this.#file = file
    this.#time = time
  }

  async add(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text)
    await this.#add({ name, size: bytes.length }, [bytes])
  }

  /** Adds a file of any size, in chunks. */
  async addFile(name: string, path: string, onBytes: (bytes: number) => void): Promise<void> {
    const source = await open(path, 'r')
    try {
      const { size } = await source.stat()
      await this.#add({ name, size }, chunksOf(source, 0, size), onBytes)
    } finally {
      await source.close()
    }
  }

  /** Writes the end of the archive and waits until everything is on disk. */
  async end(): Promise<void> {
    await this.#file.writeFile(new Uint8Array(2 * BLOCK))
    await this.#file.sync()
  }

  async #add(
    entry: Entry,
    chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    onBytes: (bytes: number) => void = () => undefined,
  ): Promise<void> {
    await this.#file.writeFile(writeHeader(entry, this.#time))
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of chunks) {
      hash.update(chunk)
      await this.#file.writeFile(chunk)
      bytes += chunk.length
      onBytes(bytes)
    }
    await this.#file.writeFile(new Uint8Array(paddingSize(entry.size)))
    this.written.push({ ...entry, sha256: hash.digest('hex') })
  }
}

/** Reads an archive. It is valid only if every byte is what the writer would have written. */
export class ArchiveReader {
  readonly #file: FileHandle
  readonly #name: string
  readonly entries: readonly FoundEntry[]

  private constructor(file: FileHandle, name: string, entries: readonly FoundEntry[]) {
    this.#file = file
    this.#name = name
    this.entries = entries
  }

  static async open(name: string): Promise<ArchiveReader> {
    const file = await open(name, 'r').catch((error: Error) => {
      throw new OperatorError(`the backup ${name} cannot be read: ${error.message}`)
    })
    try {
      if ((await file.stat()).isDirectory()) {
        throw new OperatorError(`the backup ${name} cannot be read: it is a folder`)
      }
      return new ArchiveReader(file, name, await findEntries(file, name))
    } catch (error) {
      await file.close()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  find(name: string): FoundEntry | undefined {
    return this.entries.find(each => each.name === name)
  }

  /** The text of an entry that is known to be small. */
  async text(entry: FoundEntry): Promise<string> {
    return (await this.start(entry, entry.size)).toString('utf8')
  }

  /** The first bytes of an entry; fewer if it is shorter. */
  start(entry: FoundEntry, length: number): Promise<Buffer> {
    return bytesAt(this.#file, entry.at + BLOCK, Math.min(length, entry.size))
  }

  /** Passes the bytes of an entry to `take` and returns their SHA-256. Also checks the header and the padding. */
  async read(
    entry: FoundEntry,
    time: number,
    take: (chunk: Uint8Array) => Promise<void> | void,
  ): Promise<string> {
    const header = await bytesAt(this.#file, entry.at, BLOCK)
    if (!writeHeader(entry, time).equals(header))
      throw damaged(this.#name, `the header of ${entry.name} was altered`)
    const hash = createHash('sha256')
    for await (const chunk of chunksOf(this.#file, entry.at + BLOCK, entry.size)) {
      hash.update(chunk)
      await take(chunk)
    }
    const padding = await bytesAt(this.#file, entry.at + BLOCK + entry.size, paddingSize(entry.size))
    if (padding.some(byte => byte !== 0))
      throw damaged(this.#name, `the padding after ${entry.name} was altered`)
    return hash.digest('hex')
  }
}

export function damaged(file: string, reason: string): OperatorError {
  return new OperatorError(`${file} is not a valid backup: ${reason}`)
}

/** Locates the entries without reading their contents. */
async function findEntries(file: FileHandle, name: string): Promise<FoundEntry[]> {
  const { size: length } = await file.stat()
  const entries: FoundEntry[] = []
  let at = 0
  for (;;) {
    if (at + BLOCK > length) throw damaged(name, 'unexpected end of file')
    const header = await bytesAt(file, at, BLOCK)
    if (header.every(byte => byte === 0)) break
    const entry = readHeader(header)
    if (entry === undefined) throw damaged(name, `no file header at byte ${at}`)
    if (entry.size > length - at - BLOCK) {
      throw damaged(
        name,
        `the header of ${entry.name} declares ${entry.size} bytes, but the file ends before that`,
      )
    }
    if (entries.some(each => each.name === entry.name)) throw damaged(name, `it contains ${entry.name} twice`)
    if (entries.length === MAX_ENTRIES) throw damaged(name, `it contains more than ${MAX_ENTRIES} files`)
    entries.push({ ...entry, at })
    at += BLOCK + entry.size + paddingSize(entry.size)
  }
  const end = await bytesAt(file, at, Math.min(length - at, 3 * BLOCK))
  if (end.length !== 2 * BLOCK || end.some(byte => byte !== 0))
    throw damaged(name, 'its end-of-archive marker is invalid')
  return entries
}

function writeHeader({ name, size }: Entry, time: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1')
  header.write(name, 0, 100, 'latin1')
  octal(0o600, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  if (size <= MAX_OCTAL) octal(size, 124, 11)
  else {
    header[124] = 0x80
    header.writeBigUInt64BE(BigInt(size), 128)
  }
  octal(Math.floor(time / 1000), 136, 11)
  header.write('        0', 148, 'latin1')
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

function readHeader(header: Buffer): Entry | undefined {
  const name = header.toString('latin1', 0, 100).replace(/\0+$/, '')
  const digits = header.toString('latin1', 124, 135)
  const size = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(digits, 8)
  const isName = /^[A-Za-z0-9.-]{1,40}$/.test(name)
  return isName && Number.isSafeInteger(size) && size >= 0 ? { name, size } : undefined
}

const paddingSize = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, at)
  return bytes.subarray(0, bytesRead)
}

async function* chunksOf(file: FileHandle, at: number, size: number): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < size; ) {
    const chunk = await bytesAt(file, at + done, Math.min(CHUNK, size - done))
    if (chunk.length === 0) throw new OperatorError('unexpected end of file')
    yield chunk
    done += chunk.length
  }
}
