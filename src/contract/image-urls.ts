/** The kinds of pictures, each with the size in its URLs. Clients replace placeholders; those of videos have percent signs (D-90). */
const SIZE_IN_URL = {
  users: '300x300',
  games: '{width}x{height}',
  channels: '{width}x{height}',
  videos: '%{width}x%{height}',
} as const

export type ImageKind = keyof typeof SIZE_IN_URL

/** The URL of the picture of a user, game, channel or video, as it appears in answers (D-95). */
export function imageUrl(publicUrl: string, kind: ImageKind, id: string): string {
  return `${publicUrl}/images/${kind}/${id}-${SIZE_IN_URL[kind]}.png`
}
