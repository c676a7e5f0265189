import type { Picture, Shape } from './picture.ts'

/** A picture as SVG. `slice` cuts what a raster of the same size cuts. */
export function encodeSvg(picture: Picture, width: number, height: number): string {
  const { width: across, height: down, background, shapes } = picture
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${across} ${down}" preserveAspectRatio="xMidYMid slice">`,
    `<rect width="${across}" height="${down}" fill="${background}"/>`,
    ...shapes.map(element),
    '</svg>\n',
  ].join('')
}

function element(shape: Shape): string {
  if ('points' in shape) return `<polygon fill="${shape.fill}" points="${shape.points.join(' ')}"/>`
  const { fill, cx, cy, rx, ry } = shape
  return `<ellipse fill="${fill}" cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}"/>`
}
