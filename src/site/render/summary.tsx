/** @jsxRuntime automatic @jsxImportSource preact */
/** What search engines and other sites show of a page: description, canonical URL, Open Graph and Twitter card. */
import { plainText } from '../format/plain-text.ts'

export interface PageSummary {
  /** The path that the page is known by, with the part of the query string that matters. */
  readonly path: string
  readonly description: string
  readonly type?: 'website' | 'profile' | 'video.other'
  readonly image?: SummaryImage
  /** Of a video. */
  readonly seconds?: number
}

export interface SummaryImage {
  /** Of this server. */
  readonly path: string
  readonly width: number
  readonly height: number
  readonly alt: string
}

/** Sites cut longer texts, each at another length. */
const MAX_TITLE = 100
const MAX_DESCRIPTION = 200

const SITE_IMAGE: SummaryImage = { path: '/icon-512.png', width: 512, height: 512, alt: 'Strand' }

/** A picture of a channel or video in the size that other sites show. */
export const wideImage = (path: string, alt: string): SummaryImage => ({
  path: `${path}-1280x720.png`,
  width: 1280,
  height: 720,
  alt,
})

interface SummaryTagsProps {
  readonly title: string
  readonly summary: PageSummary
  /** Other sites need whole URLs. */
  readonly publicUrl: string
}

export const SummaryTags = ({ title, summary, publicUrl }: SummaryTagsProps) => {
  const { path, type = 'website', image = SITE_IMAGE, seconds } = summary
  const url = publicUrl + path
  const name = plainText(title, MAX_TITLE)
  const description = plainText(summary.description, MAX_DESCRIPTION)
  const picture = publicUrl + image.path
  const properties: readonly (readonly [property: string, content: string | number | undefined])[] = [
    ['og:site_name', 'Strand'],
    ['og:type', type],
    ['og:title', name],
    ['og:description', description],
    ['og:url', url],
    ['og:image', picture],
    ['og:image:width', image.width],
    ['og:image:height', image.height],
    ['og:image:alt', plainText(image.alt, MAX_TITLE)],
    ['video:duration', seconds],
  ]
  const names = [
    ['twitter:card', image.width > image.height ? 'summary_large_image' : 'summary'],
    ['twitter:title', name],
    ['twitter:description', description],
    ['twitter:image', picture],
    ['twitter:image:alt', plainText(image.alt, MAX_TITLE)],
  ] as const
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={url} />
      {properties.map(
        ([property, content]) =>
          content !== undefined && <meta key={property} property={property} content={String(content)} />,
      )}
      {names.map(([each, content]) => (
        <meta key={each} name={each} content={content} />
      ))}
    </>
  )
}
