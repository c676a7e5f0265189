/** A colour as lightness 0..1, chroma 0..0.37 and hue in degrees (OKLCH): equal steps look equal, at any hue. */
export interface Colour {
  readonly l: number
  readonly c: number
  readonly h: number
}

export function colour(l: number, c: number, h: number): Colour {
  return { l, c, h }
}

/** Colours at equal distances from one to the other, both included. */
export function ramp(from: Colour, to: Colour, count: number): Colour[] {
  return Array.from({ length: count }, (_, index) => {
    const t = count === 1 ? 0 : index / (count - 1)
    const between = (a: number, b: number) => a + (b - a) * t
    return colour(between(from.l, to.l), between(from.c, to.c), between(from.h, to.h))
  })
}

const CHROMA_STEP = 0.005

/** As `#rrggbb`. A colour that a screen cannot show loses chroma until it can. */
export function toHex({ l, c, h }: Colour): string {
  let chroma = c
  let rgb = linearRgb(l, chroma, h)
  while (chroma > 0 && rgb.some(part => part < -0.0005 || part > 1.0005)) {
    chroma = Math.max(0, chroma - CHROMA_STEP)
    rgb = linearRgb(l, chroma, h)
  }
  return `#${rgb.map(part => toByte(part).toString(16).padStart(2, '0')).join('')}`
}

/** The matrices of Björn Ottosson's OKLab. */
function linearRgb(lightness: number, chroma: number, hue: number): [number, number, number] {
  const angle = (hue * Math.PI) / 180
  const a = chroma * Math.cos(angle)
  const b = chroma * Math.sin(angle)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

/** The sRGB transfer function. */
function toByte(linear: number): number {
  const part = Math.min(1, Math.max(0, linear))
  const encoded = part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055
  return Math.round(encoded * 255)
}
