/**
 * Two fonts whose letters are blocks. Machines have different fonts, and render the same one differently; with these, text
 * takes the same space in pictures of pages everywhere. Letters differ in width, so that lines break as those of real text do.
 */
const EM = 1000
const ASCENT = 950
const DESCENT = 250

/** A block, from its lower to its upper edge, and the space that it takes. */
interface Glyph {
  readonly width: number
  readonly bottom: number
  readonly top: number
}

const GLYPHS = {
  // The first glyph is that of missing characters: a browser would take another font for what is mapped to it.
  missing: { width: 640, bottom: 0, top: 700 },
  space: { width: 280, bottom: 0, top: 0 },
  narrow: { width: 290, bottom: 0, top: 700 },
  small: { width: 550, bottom: 0, top: 520 },
  tall: { width: 640, bottom: 0, top: 700 },
  wide: { width: 850, bottom: 0, top: 520 },
} as const satisfies Record<string, Glyph>
type GlyphName = keyof typeof GLYPHS
const NAMES = Object.keys(GLYPHS) as GlyphName[]
const MONO_WIDTH = 600

const NARROW = new Set("fijlrtI.,:;'!|()[]·")
const WIDE = new Set('mwMW@%—')

function glyphFor(character: string): GlyphName {
  if (character.trim() === '') return 'space'
  if (NARROW.has(character)) return 'narrow'
  if (WIDE.has(character)) return 'wide'
  return /[a-z]/.test(character) ? 'small' : 'tall'
}

/** A sheet that sets all text of the site in these fonts, at places that no machine rounds to whole pixels. */
export function blockFontSheet(): string {
  const face = (family: string, isMono: boolean) =>
    `@font-face{font-family:${family};font-weight:1 1000;src:url(data:font/ttf;base64,${blockFont(isMono).toString('base64')})}`
  return `${face('Blocks', false)}${face('Mono-Blocks', true)}:root{--font:Blocks;--mono:Mono-Blocks}*{word-spacing:normal!important;text-rendering:geometricPrecision!important}`
}

/** The file of the font, as the OpenType specification describes it. */
function blockFont(isMono: boolean): Buffer {
  const glyphs = NAMES.map(name => ({ ...GLYPHS[name], ...(isMono && { width: MONO_WIDTH }) }))
  const outlines = glyphs.map(outlineOf)
  const offsets = [0]
  for (const outline of outlines) offsets.push((offsets.at(-1) ?? 0) + outline.length)
  return assemble({
    'OS/2': bytes(
      [u16, 4, 600, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0],
      [u8, ...Array<number>(10).fill(0)],
      [u32, 1, 0, 0, 0, 0x424c4f4b],
      [u16, 0x40, 0x20, 0xffff, ASCENT, 0x10000 - DESCENT, 0, ASCENT, DESCENT],
      [u32, 1, 0],
      [u16, 520, 700, 0, 0x20, 1],
    ),
    cmap: characterMap(),
    glyf: Buffer.concat(outlines),
    head: bytes(
      [u32, 0x10000, 0x10000, 0, 0x5f0f3cf5],
      [u16, 0x0b, EM],
      [u32, 0, 0, 0, 0],
      [u16, 0, 0x10000 - DESCENT, EM, ASCENT, 0, 8, 2, 1, 0],
    ),
    hhea: bytes(
      [u32, 0x10000],
      [u16, ASCENT, 0x10000 - DESCENT, 0, EM, 0, 0, EM, 1, 0, 0, 0, 0, 0, 0, 0, glyphs.length],
    ),
    hmtx: bytes(...glyphs.map(({ width }): Run => [u16, width, SIDE])),
    loca: bytes([u32, ...offsets]),
    maxp: bytes([u32, 0x10000], [u16, glyphs.length, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]),
    name: bytes([u16, 0, 0, 6]),
    post: bytes([u32, 0x30000, 0, 0, isMono ? 1 : 0, 0, 0, 0, 0]),
  })
}

type Run = readonly [write: (value: number) => Buffer, ...values: readonly number[]]

const u8 = (value: number) => Buffer.from([value])
const u16 = (value: number) => Buffer.from([value >> 8, value])
const u32 = (value: number) => Buffer.from([value >>> 24, value >> 16, value >> 8, value])
const bytes = (...runs: readonly Run[]): Buffer =>
  Buffer.concat(runs.flatMap(([write, ...values]) => values.map(write)))

/** Between two blocks there is twice this. */
const SIDE = 45

/** A rectangle of four points; nothing for a space. */
function outlineOf({ width, bottom, top }: Glyph): Buffer {
  if (top === bottom) return Buffer.alloc(0)
  const across = width - 2 * SIDE
  const up = top - bottom
  return bytes(
    [u16, 1, SIDE, bottom, width - SIDE, top, 3, 0],
    [u8, 1, 1, 1, 1],
    [u16, SIDE, 0, across, 0, bottom, up, 0, -up],
    [u16, 0],
  )
}

/** Every character of the site has a block: a run of characters for each change of glyph. */
function characterMap(): Buffer {
  const groups: { first: number; last: number; glyph: number }[] = []
  for (let code = 0x20; code <= 0x2bff; code++) {
    const glyph = NAMES.indexOf(glyphFor(String.fromCodePoint(code)))
    const last = groups.at(-1)
    if (last?.glyph === glyph) last.last = code
    else groups.push({ first: code, last: code, glyph })
  }
  return bytes(
    [u16, 0, 1, 3, 10],
    [u32, 12],
    [u16, 13, 0],
    [u32, 16 + 12 * groups.length, 0, groups.length],
    ...groups.map(({ first, last, glyph }): Run => [u32, first, last, glyph]),
  )
}

function assemble(tables: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(tables)
  let offset = 12 + 16 * entries.length
  const directory: Buffer[] = [
    bytes([u32, 0x10000], [u16, entries.length, 128, 3, entries.length * 16 - 128]),
  ]
  const bodies: Buffer[] = []
  for (const [tag, table] of entries) {
    const padded = Buffer.concat([table, Buffer.alloc(-table.length & 3)])
    directory.push(Buffer.from(tag.padEnd(4)), bytes([u32, checksum(padded), offset, table.length]))
    bodies.push(padded)
    offset += padded.length
  }
  return Buffer.concat([...directory, ...bodies])
}

function checksum(table: Buffer): number {
  let sum = 0
  for (let at = 0; at < table.length; at += 4) sum = (sum + table.readUInt32BE(at)) >>> 0
  return sum
}
